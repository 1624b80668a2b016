#include "ftl/maps/pram_table.h"

#include <algorithm>

namespace flashlab {

PramTable::PramTable(const TableParts& parts, Pram& pram, const HftlLayout& layout)
    : parts_{parts}, pram_{pram}, units_{parts.blocks.units()}, layout_{layout}, tables_{pram, layout, units_}, overlay_{units_, layout.slot_count} {}

FtlResult<SimTime> PramTable::look_up(Lpn first, std::uint32_t pages, const Io& io) {
    const SimTime looked_up = pram_.read(HftlTables::entry_bytes(pages), io.when);
    for (std::uint32_t i = 0; i < pages; ++i)
        if (const Lpn lpn{first.value() + i}; is_lost(lpn)) return std::unexpected(FtlError{FtlErrorKind::lost_page, lpn, looked_up});
    return looked_up;
}

void PramTable::place(Lpn lpn, UnitId unit, const OpenColumn& column) {
    // A collection may have committed a unit of an open block: then the overlay and the table name the same one.
    if (const auto committed = tables_.committed(lpn); committed && current(lpn) == committed) overlay_.add_stale(*committed, lpn);
    overlay_.set_current(lpn, unit);
    overlay_.set_version(column.slot, units_.index_in_block(unit), lpn);
}

FtlResult<SimTime> PramTable::trim(Lpn first, std::uint32_t pages, const Io& io) {
    SimTime done = pram_.read(HftlTables::entry_bytes(pages), io.when);
    for (std::uint32_t at = 0; at < pages; at += HftlTables::pages_per_unmap) {
        const std::uint32_t count = std::min(HftlTables::pages_per_unmap, pages - at);
        const Lpn begin{first.value() + at};
        std::uint32_t mapped = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const Lpn lpn{begin.value() + i};
            const auto old = current(lpn);
            if (!old) continue;
            ++mapped;
            if (const auto committed = tables_.committed(lpn)) overlay_.drop_stale(*committed);
            overlay_.drop_current(lpn);
            parts_.blocks.invalidate(*old, io.when);
        }
        if (mapped == 0) continue; // whatever versions open blocks held were marked dead when the page became unmapped
        parts_.counters.host_pages_trimmed += mapped;
        dead_units_.clear();
        overlay_.take_versions(begin, count, dead_units_);
        tables_.begin(io.when, io.origin.parent);
        tables_.unmap(begin, count, dead_units_);
        done = std::max(done, tables_.commit());
    }
    durable_at_ = std::max(durable_at_, done);
    return done;
}

} // namespace flashlab
