/// What hFTL keeps in RAM of its open blocks: the part of the map that is not yet in PRAM.
///
/// Idea       current: newest unit of every logical page whose newest version lies in an open block. stale: committed units that a newer version has
///            replaced, found by unit. versions: which logical page each unit of each open block holds.
/// Invariant  O1 current.at(l) lies in an open block. O2 stale.at(u) == l  <=>  the committed entry of l is u and u is not l's newest version.
/// Cost       At most one entry of each map for each unit of the open blocks. Iterated by current_pages() alone, which sorts, so that no result
///            depends on their order.
/// Power cut  Lost; recovery reads the OOB of the open blocks instead.
/// Source     Kim et al. (HY) 4.1: "we temporarily keep the metadata related with current buffer block in the main memory" (HY4).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include "ftl/blocks/unit_geometry.h"
#include "ftl/maps/hftl_tables.h"

namespace flashlab {

class HftlOverlay {
public:
    HftlOverlay(const UnitGeometry& units, std::uint32_t slots)
        : units_per_block_{units.units_per_block()}, in_use_(slots), versions_(std::size_t{slots} * units.units_per_block(), no_lpn) {
        const std::size_t most = versions_.size() / 2 + 1;
        current_.reserve(most);
        stale_.reserve(most);
    }
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const { return find(current_, lpn.value()); }
    /// The logical pages that current() knows, in ascending order.
    [[nodiscard]] std::vector<Lpn> current_pages() const {
        std::vector<Lpn> out;
        out.reserve(current_.size());
        for (const auto& [lpn, unit] : current_) out.emplace_back(lpn);
        std::ranges::sort(out);
        return out;
    }
    void set_current(Lpn lpn, UnitId unit) { current_.insert_or_assign(lpn.value(), unit.value()); }
    void drop_current(Lpn lpn) { current_.erase(lpn.value()); }

    void add_stale(UnitId unit, Lpn lpn) { stale_.insert_or_assign(unit.value(), lpn.value()); }
    void drop_stale(UnitId unit) { stale_.erase(unit.value()); }
    [[nodiscard]] std::optional<Lpn> stale_lpn(UnitId unit) const {
        const auto it = stale_.find(unit.value());
        return it == stale_.end() ? std::nullopt : std::optional{Lpn{it->second}};
    }
    [[nodiscard]] std::size_t stale_count() const { return stale_.size(); }

    void start_slot(std::uint32_t slot) {
        in_use_[slot] = 1;
        std::fill_n(versions_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * units_per_block_), units_per_block_, no_lpn);
    }
    void end_slot(std::uint32_t slot) { in_use_[slot] = 0; }
    void set_version(std::uint32_t slot, std::uint32_t unit, Lpn lpn) { versions_[std::size_t{slot} * units_per_block_ + unit] = lpn.value(); }
    [[nodiscard]] std::optional<Lpn> version(std::uint32_t slot, std::uint32_t unit) const {
        const std::uint32_t raw = versions_[std::size_t{slot} * units_per_block_ + unit];
        return raw == no_lpn ? std::nullopt : std::optional{Lpn{raw}};
    }
    /// Takes every version of [first, first + pages) out of the open blocks and appends where it lay.
    void take_versions(Lpn first, std::uint32_t pages, std::vector<HftlTables::DeadUnit>& out) {
        for (std::uint32_t slot = 0; slot < in_use_.size(); ++slot) {
            if (in_use_[slot] == 0) continue;
            std::uint32_t* row = versions_.data() + std::size_t{slot} * units_per_block_;
            for (std::uint32_t i = 0; i < units_per_block_; ++i) {
                if (row[i] == no_lpn || row[i] - first.value() >= pages) continue;
                row[i] = no_lpn;
                out.push_back({slot, i});
            }
        }
    }

private:
    using Map = boost::unordered_flat_map<std::uint32_t, std::uint32_t>;
    static constexpr std::uint32_t no_lpn = 0xffff'ffff;
    [[nodiscard]] static std::optional<UnitId> find(const Map& map, std::uint32_t key) {
        const auto it = map.find(key);
        return it == map.end() ? std::nullopt : std::optional{UnitId{it->second}};
    }
    std::uint32_t units_per_block_;
    std::vector<std::uint8_t> in_use_;
    std::vector<std::uint32_t> versions_;
    Map current_;
    Map stale_;
};

} // namespace flashlab
