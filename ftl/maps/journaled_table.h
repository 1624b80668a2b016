/// A page table of a drive without PRAM: a page journal brings it back (ftl/recovery/page_journal.h).
///
/// Idea       Checkpoints of the table, paced with the writes; trims between them; a census of what was programmed since. A table adds what it
///            records and how it loads that.
/// Invariant  J1 to J4. No checkpoint begins before programmed_at(), when the last program that the table names has ended.
/// Cost       A call of the journal a write; the virtual functions are called once a checkpoint, or mount.
/// Power cut  Answered writes are durable, trims once flushed.
#pragma once

#include <algorithm>

#include "ftl/maps/page_table.h"
#include "ftl/recovery/page_journal.h"

namespace flashlab {

class JournaledTable {
public:
    static constexpr bool durable_when_answered = false;

    JournaledTable(const TableParts& parts, const PageJournalConfig& journal);
    JournaledTable(const JournaledTable&) = delete;
    JournaledTable& operator=(const JournaledTable&) = delete;

    [[nodiscard]] FtlResult<FtlRecovery> recover(SimTime now);
    [[nodiscard]] FtlResult<void> pace_checkpoint(const Io& io);
    void answered(SimTime at) { durable_at_ = std::max(durable_at_, at); }
    [[nodiscard]] FtlResult<SimTime> flush(const Io& io);
    [[nodiscard]] SimTime idle(SimTime now);
    [[nodiscard]] FtlResult<SimTime> shut_down(SimTime now);
    [[nodiscard]] FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job);
    [[nodiscard]] static SimTime opened(OpenSuperblock&, const OpenSuperblock&, SimTime ready) { return ready; }
    static void closed(OpenSuperblock&, SimTime) {}
    [[nodiscard]] static SimTime condemned(BlockId, SimTime now, EventId) { return now; }

protected:
    ~JournaledTable() = default;

    [[nodiscard]] PageJournal& journal() { return journal_; }
    [[nodiscard]] SimTime programmed_at() const { return programmed_at_; }
    void programmed(SimTime end) { programmed_at_ = std::max(programmed_at_, end); }
    /// Its unit holds nothing from `now` on; a trim that says so follows.
    void drop(UnitId unit, SimTime now) {
        journal_.keep_until_flushed(parts_.blocks.units().block_of(unit));
        parts_.blocks.invalidate(unit, now);
    }
    /// Trims page by page of the map: `in_page(page, first, pages)`, which counts host_pages_trimmed; the journal hears of what reads zeros now.
    template <class Pages, class InPage>
    [[nodiscard]] FtlResult<SimTime> trim_by_page(const Pages& map, Lpn first, std::uint32_t pages, const Io& io, const InPage& in_page) {
        const std::uint64_t& trimmed = parts_.counters.host_pages_trimmed;
        const std::uint64_t trimmed_before = trimmed;
        FtlResult<SimTime> done = io.when;
        std::uint32_t l = first.value();
        for (const std::uint32_t end = l + pages; l < end && done;) {
            const std::uint32_t page = map.page_of(Lpn{l});
            const auto stop = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, map.end_of(page)));
            const std::uint64_t before = trimmed;
            const FtlResult<SimTime> part = in_page(page, Lpn{l}, stop - l);
            if (part || trimmed != before) l = stop;
            done = part ? FtlResult<SimTime>{std::max(*done, *part)} : part;
        }
        // Also of a trim that failed half way: what reads zeros now must not come back.
        if (trimmed != trimmed_before) journal_.trimmed(first, l - first.value());
        if (!done) return done;
        if (parts_.blocks.has_failed_blocks())
            if (const auto retired = parts_.blocks.retire_failed(io.when); !retired) return std::unexpected(retired.error());
        if (const auto written = record_full_trims(io); !written) return std::unexpected(written.error());
        return done;
    }
    /// What waits is recorded when it fills a page.
    [[nodiscard]] FtlResult<void> record_full_trims(const Io& io);
    /// At a mount: the unit is valid. False: it is none, or is named twice.
    [[nodiscard]] bool take(std::uint32_t entry);

    const TableParts parts_;

private:
    /// Brings the table within what a checkpoint holds; when.
    [[nodiscard]] virtual FtlResult<SimTime> before_checkpoint(const Io& io) { return io.when; }
    /// The table's part of a checkpoint; valid until the next call. Its contents matter only where the array keeps payload.
    [[nodiscard]] virtual std::span<const std::byte> recorded() = 0;
    /// The table and the valid bits, from a checkpoint and what was found since; moves `start.done` on. Not called on a new drive.
    [[nodiscard]] virtual FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report) = 0;
    /// Work for an idle time, after the journal's. False: it failed, and nothing more is to be done.
    [[nodiscard]] virtual bool idle_work(SimTime) { return true; }
    [[nodiscard]] FtlResult<SimTime> flush_trims(const Io& io);

    PageJournal journal_;
    SimTime programmed_at_ = sim_start;
    SimTime durable_at_ = sim_start; ///< of the host's writes
};

} // namespace flashlab
