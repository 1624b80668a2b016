#include "ftl/schemes/page_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ftl/blocks/map_check.h"
#include "ftl/blocks/row_writer.h"
#include "ftl/blocks/unit_reader.h"
#include "ftl/recovery/page_journal.h"

namespace flashlab {

PageMap::PageMap(const PageBlocksConfig& blocks, const PageJournalConfig& journal, NandArray& array, EventSink& events, BlockPolicies policies)
    : Ftl{{UnitGeometry{array.geometry(), blocks.pages_per_unit}.bytes_per_unit(), journal.shape.logical_pages, array.geometry().blocks()}},
      array_{array}, map_(journal.shape.logical_pages),
      blocks_{std::make_unique<PageBlocks>(blocks, array, events, static_cast<PageOwner&>(*this), std::move(policies))},
      journal_{std::make_unique<PageJournal>(journal, array, *blocks_)}, reader_{std::make_unique<UnitReader>(array, *blocks_)} {}

PageMap::~PageMap() = default;

FtlSpace PageMap::space() const { return blocks_->space(); }

BlockStatus PageMap::do_status_of(BlockId block) const { return blocks_->status_of(block, BlockUse::data); }

FtlResult<FtlRecovery> PageMap::do_recover(SimTime now) {
    FtlRecovery report;
    const auto start = journal_->recover(now, report);
    if (!start) return std::unexpected(start.error());
    if (start->scheme_part.size() % 4 != 0 || start->scheme_part.size() / 4 > map_.size())
        return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, start->done});
    std::ranges::copy(start->scheme_part, std::as_writable_bytes(std::span{map_}).begin());
    if (!start->was_clean) rebuild_map(map_, PageKind::data, blocks_->units(), start->census, &start->trims, start->checkpoint.next_sequence);
    for (std::uint32_t l = 0; !start->is_new && l < map_.size(); ++l)
        if (const auto unit = current(Lpn{l})) {
            if (unit->value() >= blocks_->units().units() || blocks_->valid().test(*unit))
                return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{l}, start->done});
            blocks_->valid_to_load().set(*unit);
        }
    const auto ready = journal_->load(*start, start->done);
    if (!ready) return std::unexpected(ready.error());
    report.done = programmed_at_ = durable_at_ = *ready;
    return report;
}

FtlResult<SimTime> PageMap::do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
    counters_.host_pages_read += pages;
    return reader_->read(first, pages, to, io, [this](Lpn lpn) { return current(lpn); });
}

FtlResult<SimTime> PageMap::do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
    ++counters_.host_pages_read;
    return reader_->read_part(lpn, current(lpn), offset, bytes, to, io);
}

FtlResult<SimTime> PageMap::do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
    if (blocks_->is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    prefetch(first);
    if (const auto paced = pace_checkpoint(io); !paced) return std::unexpected(paced.error());
    const auto written = write_rows(
        *blocks_, {first, pages, from}, io, nothing_before_a_row, [this](Lpn lpn) { return current(lpn); },
        [this](Lpn lpn, UnitId unit, const OpenColumn&, SimTime end) {
            map_[lpn.value()] = unit.value() + 1;
            programmed_at_ = std::max(programmed_at_, end); // a collection before the next row may have to write a checkpoint
        });
    if (!written) return written;
    counters_.host_pages_written += pages;
    durable_at_ = std::max(durable_at_, *written);
    return *written;
}

FtlResult<SimTime> PageMap::do_trim(Lpn first, std::uint32_t pages, const Io& io) {
    if (blocks_->is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
    std::uint32_t mapped = 0;
    for (std::uint32_t l = first.value(); l < first.value() + pages; ++l) {
        const auto old = current(Lpn{l});
        if (!old) continue;
        ++mapped;
        map_[l] = unmapped;
        journal_->keep_until_flushed(blocks_->units().block_of(*old));
        blocks_->invalidate(*old, io.when);
    }
    counters_.host_pages_trimmed += mapped;
    // A page that is not mapped may have an older version on flash, and a trim of it that waits, but none that waits no more: the range counts once.
    if (mapped != 0) journal_->trimmed(first, pages);
    if (journal_->is_full())
        if (const auto written = journal_->flush_trims(map_bytes(), io.at(std::max(io.when, programmed_at_))); !written) return written;
    return io.when;
}

FtlResult<SimTime> PageMap::do_flush(const Io& io) {
    const SimTime written = std::max(io.when, durable_at_);
    if (blocks_->is_read_only() && !journal_->can_flush_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, io.when});
    const SimTime from = journal_->needs_map_to_flush() ? std::max(io.when, programmed_at_) : io.when;
    const auto trims = journal_->flush_trims(map_bytes(), io.at(from));
    if (!trims) return trims;
    return std::max(written, *trims);
}

FtlResult<void> PageMap::pace_checkpoint(const Io& io) {
    if (!journal_->begins_checkpoint()) return journal_->pace({}, io);
    return journal_->pace(map_bytes(), io.at(std::max(io.when, programmed_at_)));
}

std::span<const std::byte> PageMap::map_bytes() const {
    std::size_t entries = map_.size();
    while (entries > 0 && map_[entries - 1] == unmapped) --entries;
    return std::as_bytes(std::span{map_}.first(entries));
}

SimTime PageMap::do_idle(SimTime now) {
    if (blocks_->is_read_only()) return sim_never;
    const bool begins = journal_->begins_checkpoint();
    if (begins && programmed_at_ > now) return std::min(programmed_at_, blocks_->idle(now));
    const auto next = journal_->pace_idle(begins ? map_bytes() : std::span<const std::byte>{}, now);
    return next ? std::min(*next, blocks_->idle(now)) : sim_never;
}

FtlResult<SimTime> PageMap::do_relocate(BlockId block, SimTime now) { return blocks_->relocate(block, now); }

FtlResult<SimTime> PageMap::do_shut_down(SimTime now) {
    const SimTime at = std::max(now, programmed_at_);
    if (blocks_->is_read_only()) {
        const auto flushed = do_flush({at, {Cause::map, no_event}}); // what cannot be recorded was promised to nobody
        return flushed.value_or(at);
    }
    blocks_->settle_down(now);
    return journal_->shut_down(map_bytes(), at);
}

SimTime PageMap::opened(OpenSuperblock&, const OpenSuperblock&, SimTime ready) { return ready; }

void PageMap::closed(OpenSuperblock&, SimTime) {}

void PageMap::moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn&, SimTime end) {
    ensure(current(oob.lpn) == from, "a valid unit is its page's newest version");
    map_[oob.lpn.value()] = to.value() + 1;
    programmed_at_ = std::max(programmed_at_, end);
}

FtlResult<SimTime> PageMap::forget(BlockId victim, BlockFate, SimTime at, EventId job) {
    if (!journal_->is_kept(victim)) return std::max(at, journal_->trims_durable_at());
    return journal_->flush_trims(map_bytes(), {std::max(at, programmed_at_), {Cause::map, job}});
}

SimTime PageMap::condemned(BlockId, SimTime now, EventId) { return now; }

FtlCounters PageMap::counters() const {
    FtlCounters all = counters_;
    blocks_->count_into(all);
    return all;
}

std::vector<CheckProblem> PageMap::do_check() {
    std::vector<CheckProblem> out = journal_->check();
    blocks_->check(out);
    MapCheck map{"P1", "P2", blocks_->units(), array_};
    for (std::uint32_t l = 0; l < map_.size(); ++l)
        if (const auto unit = current(Lpn{l}))
            map.check({Lpn{l}, PageKind::data, *unit}, blocks_->valid().test(*unit), blocks_->next_sequence(), out);
    if (map.units_named() != blocks_->valid().total())
        out.push_back({"P1", "valid bits", fmt::format("{} valid units, {} mapped pages", blocks_->valid().total(), map.units_named())});
    return out;
}

} // namespace flashlab
