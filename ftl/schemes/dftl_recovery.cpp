/// DFTL across power cuts and clean shutdowns. Its part of a checkpoint: ftl/FORMAT.md.
#include <algorithm>

#include "base/little_endian.h"
#include "ftl/schemes/dftl.h"

namespace flashlab {

std::uint64_t Dftl::checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t cached_entries) {
    // Dirty entries: the cache's, those set aside (F6), and above both those of a collection made in one go or given up in each group.
    const std::uint64_t dirty = std::uint64_t{cached_entries} + 2ull * groups * units.units_per_block();
    return 8 + 4ull * translation_pages(units, units.units()) + 8 * dirty;
}

std::span<const std::byte> Dftl::map_bytes() {
    checkpoint_.resize(8 + 4 * gtd_.size() + 8 * std::size_t{cache_.dirty()});
    if (!array_.keeps_payload()) return checkpoint_;
    LittleEndianWriter out{checkpoint_};
    out.u32(static_cast<std::uint32_t>(gtd_.size()));
    out.u32(cache_.dirty());
    for (const std::uint32_t entry : gtd_) out.u32(entry);
    cache_.for_each_dirty([&out](Lpn lpn, std::uint32_t entry) {
        out.u32(lpn.value());
        out.u32(entry);
    });
    ensure(out.full(), "the directory and the dirty entries fill their part");
    return checkpoint_;
}

bool Dftl::decode(std::span<const std::byte> scheme_part, std::vector<DirtyEntry>& dirty) {
    if (scheme_part.empty()) return true; // no checkpoint yet
    LittleEndianReader in{scheme_part};
    const std::uint32_t pages = in.u32();
    const std::uint32_t entries = in.u32();
    if (in.failed() || pages != gtd_.size() || in.left() != 4ull * pages + 8ull * entries) return false;
    for (std::uint32_t& entry : gtd_) entry = in.u32();
    for (std::uint32_t i = 0; i < entries; ++i) {
        const Lpn lpn{in.u32()};
        const std::uint32_t entry = in.u32();
        if (lpn.value() >= logical_pages_) return false;
        dirty.push_back({lpn, entry});
    }
    return true;
}

FtlResult<FtlRecovery> Dftl::do_recover(SimTime now) {
    FtlRecovery report;
    auto start = journal_.recover(now, report);
    if (!start) return std::unexpected(start.error());
    const FtlError foreign{FtlErrorKind::foreign, Lpn{0}, start->done};
    const UnitGeometry& units = blocks_.units();
    const std::uint64_t since = start->checkpoint.next_sequence;
    if (!start->is_new) {
        std::vector<DirtyEntry> dirty;
        if (!decode(start->scheme_part, dirty)) return std::unexpected(foreign);
        if (!start->was_clean) rebuild_map(gtd_, PageKind::translation, units, start->census, nullptr, since);
        const auto read = read_translation_pages(start->done, report);
        if (!read) return std::unexpected(read.error());
        start->done = *read;
        std::vector<std::uint32_t> map(on_flash_.begin(), on_flash_.begin() + logical_pages_);
        // Of a page written since, these may be older than what it holds: then what outdated them is found, or is a trim.
        for (const DirtyEntry& d : dirty) map[d.lpn.value()] = d.entry;
        if (!start->was_clean) rebuild_map(map, PageKind::data, units, start->census, &start->trims, since);
        if (!take_map(map)) return std::unexpected(foreign);
    }
    const auto ready = journal_.load(*start, start->done);
    if (!ready) return std::unexpected(ready.error());
    report.done = programmed_at_ = durable_at_ = *ready;
    return report;
}

FtlResult<SimTime> Dftl::read_translation_pages(SimTime now, FtlRecovery& report) {
    const UnitGeometry& units = blocks_.units();
    const std::uint32_t page_bytes = units.geometry().page_bytes();
    SimTime done = now;
    for (std::uint32_t page = 0; page < gtd_.size(); ++page) {
        const auto unit = unit_of(gtd_[page]);
        if (!unit) continue;
        if (unit->value() >= units.units()) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, done});
        for (std::uint32_t p = 0; p < units.pages_per_unit(); ++p) {
            const auto part = std::span{page_}.subspan(std::size_t{p} * page_bytes, page_bytes);
            const auto read = array_.read(PageRead{units.page_of(*unit, p), 0, page_bytes, part}, {now, {Cause::recovery, no_event}});
            if (!read) return std::unexpected(blocks_.fail(read.error(), Lpn{page * entries_per_page_}));
            done = std::max(done, *read);
            ++report.pages_scanned;
        }
        std::memcpy(on_flash_.data() + std::size_t{page} * entries_per_page_, page_.data(), page_.size());
    }
    return done;
}

/// Valid bits, and as dirty entries what flash does not hold; false when units are named twice or are none.
bool Dftl::take_map(std::span<const std::uint32_t> map) {
    ValidMap& valid = blocks_.valid_to_load();
    const auto take = [&](std::uint32_t entry) {
        const UnitId unit{entry - 1};
        if (unit.value() >= blocks_.units().units() || valid.test(unit)) return false;
        valid.set(unit);
        return true;
    };
    for (std::uint32_t page = 0; page < gtd_.size(); ++page) {
        const std::size_t first = std::size_t{page} * entries_per_page_;
        const auto entries = map.subspan(first, std::min<std::size_t>(entries_per_page_, map.size() - first));
        if (std::ranges::all_of(entries, [](std::uint32_t e) { return e == unmapped; })) { // trimmed as a whole
            gtd_[page] = unmapped;
            std::ranges::fill(std::span{on_flash_}.subspan(first, entries_per_page_), unmapped);
            continue;
        }
        if (gtd_[page] != unmapped && !take(gtd_[page])) return false;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i] != unmapped && !take(entries[i])) return false;
            if (entries[i] != on_flash_[first + i]) cache_.insert_cold(Lpn{static_cast<std::uint32_t>(first + i)}, entries[i]);
        }
    }
    return true;
}

FtlResult<SimTime> Dftl::do_shut_down(SimTime now) {
    if (blocks_.is_read_only()) {
        const SimTime at = std::max(now, programmed_at_);
        const auto flushed = do_flush({at, {Cause::map, no_event}}); // what cannot be recorded was promised to nobody
        return flushed.value_or(at);
    }
    if (const auto room = make_room(0, {now, {Cause::map, no_event}}); !room) return room;
    blocks_.settle_down(now);
    return journal_.shut_down(map_bytes(), std::max(now, programmed_at_));
}

} // namespace flashlab
