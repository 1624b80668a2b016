#include "ftl/maps/journaled_table.h"

#include <algorithm>

namespace flashlab {

JournaledTable::JournaledTable(const TableParts& parts, const PageJournalConfig& journal)
    : parts_{parts}, journal_{journal, parts.array, parts.blocks} {}

FtlResult<FtlRecovery> JournaledTable::recover(SimTime now) {
    FtlRecovery report;
    auto start = journal_.recover(now, report);
    if (!start) return std::unexpected(start.error());
    if (!start->is_new)
        if (const auto loaded = load(*start, report); !loaded) return std::unexpected(loaded.error());
    const auto ready = journal_.load(*start, start->done);
    if (!ready) return std::unexpected(ready.error());
    report.done = programmed_at_ = durable_at_ = *ready;
    return report;
}

bool JournaledTable::take(std::uint32_t entry) {
    const UnitId unit = *map_entry::unit(entry);
    ValidMap& valid = parts_.blocks.valid_to_load();
    if (unit.value() >= parts_.blocks.units().units() || valid.test(unit)) return false;
    valid.set(unit);
    return true;
}

FtlResult<void> JournaledTable::pace_checkpoint(const Io& io) {
    if (!journal_.begins_checkpoint()) return journal_.pace({}, io);
    if (const auto ready = before_checkpoint(io); !ready) return std::unexpected(ready.error());
    return journal_.pace(recorded(), io.at(std::max(io.when, programmed_at_)));
}

FtlResult<SimTime> JournaledTable::flush_trims(const Io& io) {
    if (!journal_.needs_map_to_flush()) return journal_.flush_trims({}, io);
    if (const auto ready = before_checkpoint(io); !ready) return ready;
    return journal_.flush_trims(recorded(), io.at(std::max(io.when, programmed_at_)));
}

FtlResult<void> JournaledTable::record_full_trims(const Io& io) {
    if (!journal_.is_full()) return {};
    if (const auto written = flush_trims(io); !written) return std::unexpected(written.error());
    return {};
}

FtlResult<SimTime> JournaledTable::flush(const Io& io) {
    const SimTime written = std::max(io.when, durable_at_);
    if (parts_.blocks.is_read_only() && !journal_.can_flush_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, io.when});
    const auto trims = flush_trims(io);
    if (!trims) return trims;
    return std::max(written, *trims);
}

SimTime JournaledTable::idle(SimTime now) {
    PageBlocks& blocks = parts_.blocks;
    if (blocks.is_read_only()) return sim_never;
    if (journal_.begins_checkpoint()) {
        if (programmed_at_ > now) return std::min(programmed_at_, blocks.idle(now));
        if (!pace_checkpoint({now, {Cause::map, no_event}})) return sim_never;
    }
    const auto next = journal_.pace_idle(now);
    if (!next) return sim_never;
    const SimTime again = blocks.idle(now);
    return idle_work(now) ? std::min(*next, again) : sim_never;
}

/// The erase waits for no record of what was moved: a census finds the copies, the next checkpoint holds their entries.
FtlResult<SimTime> JournaledTable::forget(BlockId victim, BlockFate, SimTime at, EventId job) {
    if (!journal_.is_kept(victim)) return std::max(at, journal_.trims_durable_at());
    return journal_.flush_trims(recorded(), {std::max(at, programmed_at_), {Cause::map, job}});
}

FtlResult<SimTime> JournaledTable::shut_down(SimTime now) {
    const SimTime at = std::max(now, programmed_at_);
    if (parts_.blocks.is_read_only()) {
        const auto flushed = flush({at, {Cause::map, no_event}}); // what cannot be recorded was promised to nobody
        return flushed.value_or(at);
    }
    if (const auto ready = before_checkpoint({now, {Cause::map, no_event}}); !ready) return ready;
    parts_.blocks.settle_down(now);
    const SimTime end = std::max(now, programmed_at_);
    const auto map = recorded();
    if (!journal_.can_end_with(map.size())) return flush({end, {Cause::map, no_event}}); // then the next mount takes a census
    return journal_.shut_down(map, end);
}

} // namespace flashlab
