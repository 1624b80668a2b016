/// Checks of a map's entries against the cells: each unit is named once, is valid, and its pages say what the map says.
#pragma once

#include <fmt/format.h>

#include "base/zeroed_allocator.h"
#include "ftl/block_device.h"
#include "ftl/blocks/unit_geometry.h"
#include "nand/nand_array.h"

namespace flashlab {

class MapCheck {
public:
    /// The invariants' numbers in the header of the scheme: what an entry names, what the cells say.
    MapCheck(const char* entry, const char* cells, const UnitGeometry& units, const NandArray& array)
        : entry_{entry}, cells_{cells}, units_{units}, array_{array}, named_((std::size_t{units.units()} + 63) / 64) {}

    struct Entry {
        Lpn page;
        PageKind kind;
        UnitId unit;
    };
    void check(const Entry& e, bool is_valid, std::uint64_t next_sequence, std::vector<CheckProblem>& out) {
        const auto report = [&](const char* invariant, std::string detail) {
            if (out.size() < 1000)
                out.push_back({invariant, fmt::format("{} page {}", e.kind == PageKind::translation ? "translation" : "logical", e.page.value()),
                               std::move(detail)});
        };
        if (e.unit.value() >= units_.units()) return report(entry_, fmt::format("names unit {} of {}", e.unit.value(), units_.units()));
        ++units_named_;
        std::uint64_t& word = named_[e.unit.value() / 64];
        const std::uint64_t bit = std::uint64_t{1} << e.unit.value() % 64;
        if ((word & bit) != 0) report(entry_, fmt::format("unit {} is named twice", e.unit.value()));
        word |= bit;
        if (!is_valid) report(entry_, fmt::format("its unit {} is not valid", e.unit.value()));
        for (std::uint32_t p = 0; p < units_.pages_per_unit(); ++p) {
            const auto record = array_.inspect_oob(units_.page_of(e.unit, p));
            if (!record) return report(cells_, "the image cannot be read");
            if (record->state != CellState::programmed) report(cells_, fmt::format("cell state {}", static_cast<int>(record->state)));
            const auto& oob = record->oob;
            if (!oob)
                report(cells_, "its OOB does not parse");
            else if (oob->lpn != e.page || oob->kind != e.kind)
                report(cells_, fmt::format("its OOB names page {}", oob->lpn.value()));
            else if (oob->sequence.value() >= next_sequence)
                report(cells_, fmt::format("sequence {} is not below the next, {}", oob->sequence.value(), next_sequence));
        }
    }
    [[nodiscard]] std::uint64_t units_named() const { return units_named_; }

private:
    const char* entry_;
    const char* cells_;
    UnitGeometry units_;
    const NandArray& array_;
    ZeroedVector<std::uint64_t> named_; ///< a bit a unit
    std::uint64_t units_named_ = 0;
};

} // namespace flashlab
