#include "ftl/schemes/hftl.h"

#include <algorithm>
#include <cstring>

namespace flashlab {

Hftl::Hftl(const PageBlocksConfig& config, NandArray& array, Pram& pram, const HftlLayout& layout, EventSink& events, BlockPolicies policies)
    : Ftl{{UnitGeometry{array.geometry(), config.pages_per_unit}.bytes_per_unit(), layout.logical_pages, array.geometry().blocks()}}, array_{array},
      pram_{pram}, units_{array.geometry(), config.pages_per_unit}, layout_{layout}, tables_{pram, layout, units_},
      overlay_{units_, layout.slot_count}, blocks_{config, array, events, *this, std::move(policies)}, reader_{array, blocks_} {}

std::optional<UnitId> Hftl::current(Lpn lpn) const {
    if (const auto open = overlay_.current(lpn)) return open;
    return tables_.committed(lpn);
}

FtlResult<SimTime> Hftl::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    const SimTime looked_up = pram_.read(HftlTables::entry_bytes(pages), io.when);
    for (std::uint32_t i = 0; i < pages; ++i)
        if (const Lpn lpn{first.value() + i}; is_lost(lpn)) return std::unexpected(FtlError{FtlErrorKind::lost_page, lpn, looked_up});
    counters_.host_pages_read += pages;
    return reader_.read(first, pages, to, io.at(looked_up), [this](Lpn lpn) { return current(lpn); });
}

FtlResult<SimTime> Hftl::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    const SimTime looked_up = pram_.read(HftlTables::entry_bytes(1), io.when);
    if (is_lost(lpn)) return std::unexpected(FtlError{FtlErrorKind::lost_page, lpn, looked_up});
    ++counters_.host_pages_read;
    return reader_.read_part(lpn, current(lpn), offset, bytes, to, io.at(looked_up));
}

FtlResult<SimTime> Hftl::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    tables_.prefetch(first);
    const auto written = write_rows(
        blocks_, {first, pages, from}, io, nothing_before_a_row, [this](Lpn lpn) { return current(lpn); },
        [this](Lpn lpn, UnitId unit, const OpenColumn& column, SimTime) {
            ensure(blocks_.next_sequence() <= sequence_ceiling_, "sequences stay below the ceiling kept in PRAM");
            adopt(lpn, unit, column.slot);
        });
    if (!written) return written;
    counters_.host_pages_written += pages;
    durable_at_ = std::max(durable_at_, *written);
    return *written;
}

/// `unit` holds the newest version from now on; the committed one, if it was the newest, is stale.
void Hftl::adopt(Lpn lpn, UnitId unit, std::uint32_t slot) {
    // A collection may have committed a unit of an open block: then the overlay and the table name the same one.
    if (const auto committed = tables_.committed(lpn); committed && current(lpn) == committed) overlay_.add_stale(*committed, lpn);
    overlay_.set_current(lpn, unit);
    overlay_.set_version(slot, units_.index_in_block(unit), lpn);
}

FtlResult<SimTime> Hftl::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
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
            blocks_.invalidate(*old, io.when);
        }
        if (mapped == 0) continue; // whatever versions open blocks held were marked dead when the page became unmapped
        counters_.host_pages_trimmed += mapped;
        dead_units_.clear();
        overlay_.take_versions(begin, count, dead_units_);
        tables_.begin(io.when, io.origin.parent);
        tables_.unmap(begin, count, dead_units_);
        done = std::max(done, tables_.commit());
    }
    durable_at_ = std::max(durable_at_, done);
    return done;
}

FtlResult<SimTime> Hftl::do_flush(const Io& io) { return std::max(io.when, durable_at_); }

SimTime Hftl::do_idle(SimTime now) { return blocks_.idle(now); }

FtlResult<SimTime> Hftl::do_relocate(BlockId block, SimTime now) { return blocks_.relocate(block, now); }

FtlCounters Hftl::counters() const {
    FtlCounters all = counters_;
    blocks_.count_into(all);
    return all;
}

} // namespace flashlab
