/// The machinery of every block-mapping scheme: data blocks, log blocks, merges between them, and how all of it survives a power cut.
///
/// Idea       A scheme says in place() which log block takes the next pages; reads, merges, trims, journal, recovery and retirement are the same for
///            all. A merge gathers the newest version of every page of one logical block in one block:
///              switch   the log block holds them all in place: it becomes the data block;
///              partial  the log block holds the first ones in place: the rest is copied into it, then it becomes the data block;
///              full     all are copied, in page order, into a free block.
/// Invariant  G1 a mapped page lies in a log block (its newest version) or at its own offset of its data block; OOB and map agree.
///            G2 every good block is in one set: free, data block of one logical block, log block, leaving (replaced, not yet forgotten), journal.
///            G3 a block is erased, or given away, only after the record that forgets it is durable; no record names a block that is not erased yet.
///            G4 free and leaving blocks outside the logical space never fall below what a merge needs, else the device is read-only.
/// Cost       BlockMap + LogBlocks. A write without a merge is a hash insertion; a merge costs its copies. No allocation in steady state.
/// Power cut  ftl/DESIGN-merge.md, "Order": a log block is named in the journal before anything in it is answered; a merge's result is named when its
///            copies are durable, before what it replaces is erased; trims go out with the next flush or record, whichever comes first.
/// Source     BAST, FAST (ftl/blocks/log_blocks.h); HY8; AP5; CO13.
#pragma once

#include <map>
#include <vector>

#include "ftl/blocks/allocation.h"
#include "ftl/blocks/block_map.h"
#include "ftl/blocks/block_pool.h"
#include "ftl/blocks/log_blocks.h"
#include "ftl/blocks/log_curve.h"
#include "ftl/cache/ghost_bitmap.h"
#include "ftl/cache/running_mean.h"
#include "ftl/ftl.h"
#include "ftl/recovery/merge_journal.h"
#include "ftl/recovery/meta_log.h"

namespace flashlab {

struct MergeFtlConfig {
    std::uint32_t groups = 1; ///< dies used: the first ones
    Allocation allocation{};  ///< in which order neighbours take their planes
    std::uint32_t logical_blocks = 0;
    std::uint32_t interleaving = 1;   ///< MC4: neighbouring pages go to so many blocks in turn
    std::uint32_t log_blocks = 0;     ///< at most; fewer when bad blocks have taken the room
    std::uint32_t least_logs = 1;     ///< with fewer the device is read-only
    std::uint32_t most_leaving = 8;   ///< merges issued and not recorded; after a cut their log blocks are there again
    std::uint32_t wear_threshold = 0; ///< not 0: free blocks are taken by their erase counts
    MetaArea meta;
};

struct MergeCounters {
    std::uint64_t switches = 0, partial = 0, full = 0;
    std::uint64_t rewritten_in_log = 0, new_in_log = 0; ///< pages written
};

class MergeFtl : public Ftl, private BlockExchange {
public:
    static constexpr std::uint32_t merge_reserve =
        3; ///< G4: a merge's target, one that fails, and the log block that is opened before the merge is forgotten

    FtlCounters counters() const override;
    [[nodiscard]] const MergeCounters& merge_counters() const { return counted_; }
    FtlSpace space() const override;

protected:
    MergeFtl(MergeFtlConfig config, NandArray& array, EventSink& events);

    /// Pages written from the log block's next page on.
    struct Place {
        LogSlot slot = 0;
        std::uint32_t pages = 0;
    };
    /// Where pages from lpn on go, at most `pages`, all of one logical block. Opens log blocks and merges others as the scheme sees fit.
    [[nodiscard]] virtual FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) = 0;

    /// True where log blocks may have erased pages before written ones: recovery then looks at all of them.
    [[nodiscard]] virtual bool skips_pages() const { return false; }

    /// Named in the journal at the end of the write that opens it.
    [[nodiscard]] FtlResult<LogSlot> open_log(std::optional<LogicalBlock> home, SimTime now);
    enum class MergeTarget : std::uint8_t { log_block_if_possible, fresh_block };
    /// Afterwards nothing of the logical block is logged, and the log blocks that were its own are closed.
    [[nodiscard]] FtlResult<void> merge(LogicalBlock home, SimTime now, Cause cause = Cause::merge,
                                        MergeTarget target = MergeTarget::log_block_if_possible);
    /// Merges every logical block with a newest version in this log block, then closes it.
    [[nodiscard]] FtlResult<void> reclaim(LogSlot slot, SimTime now, Cause cause = Cause::merge);
    /// Log blocks there may be now.
    [[nodiscard]] std::uint32_t max_logs() const;
    [[nodiscard]] Place place_in(LogSlot slot, std::uint32_t pages) const {
        return {slot, std::min(pages, map_.pages_per_block() - logs_.at(slot).next)};
    }
    /// Mapped pages of [from, to) are copied to their own offsets of the log block, whose next page becomes `to`. False: a program failed, it is
    /// sealed.
    [[nodiscard]] FtlResult<bool> fill_in_place(LogSlot slot, std::uint32_t from, std::uint32_t to, SimTime now);

    // For the partition of the DRAM: the maps of shared log blocks.
    /// Of all log blocks; at least config.least_logs. More than that may be there until they are reclaimed.
    void limit_logs(std::uint32_t logs) { log_limit_ = std::max(logs, config_.least_logs); }
    [[nodiscard]] std::uint32_t most_logs() const { return config_.log_blocks; }
    [[nodiscard]] std::uint32_t least_logs() const { return config_.least_logs; }
    void watch_logs(GhostBitmap& ghost) { ghost_ = &ghost; }
    /// Records of so many bytes say from now on what logs of these lengths, in pages, would merge.
    void measure_logs(std::vector<std::uint64_t> lengths, std::uint64_t bytes) { curve_.emplace(std::move(lengths), bytes); }
    [[nodiscard]] double take_merges(std::span<double> merges) { return curve_->take(merges); }
    /// Since the start.
    struct MergeTotals {
        std::uint64_t copies = 0;
        std::uint64_t erases = 0; ///< blocks that were left
        std::uint64_t pages = 0;  ///< written by the host
    };
    [[nodiscard]] MergeTotals merge_totals() const { return {counters_.gc_page_copies, blocks_left_, counters_.host_pages_written}; }
    struct SharedReclaims {
        RunningMean pages_a_home; ///< live in the victim, by logical block that was merged
        RunningMean homes;        ///< merged for a victim
        RunningMean copies;       ///< pages copied for a victim
    };
    [[nodiscard]] const SharedReclaims& shared_reclaims() const { return shared_reclaims_; }

    NandArray& array_;
    BlockMap map_;
    LogBlocks logs_;

private:
    // Ftl
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;
    SimTime do_idle(SimTime now) override;
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) override;
    FtlResult<SimTime> do_shut_down(SimTime now) override;
    bool do_is_mapped(Lpn lpn) const override { return map_.is_mapped(lpn); }
    BlockStatus do_status_of(BlockId block) const override;
    std::vector<CheckProblem> do_check() override;

    enum class Role : std::uint8_t { unused, free, data, log, leaving, journal, lost };

    /// A merge whose copies are issued and whose record is not: what it will free.
    struct Leaving {
        SimTime ready;            ///< the record may be issued from then on
        std::size_t bytes = 0;    ///< of its changes in changes_
        std::uint32_t blocks = 0; ///< in leaving_blocks_
        std::uint32_t copies = 0;
        SimTime start;
        EventId id = no_event; ///< parent of its copies and erases
        Cause cause = Cause::merge;
        BlockId victim{0}; ///< for the event: the first block that leaves, else the one that the copies went to
    };
    struct Trim {
        Lpn first{0};
        std::uint32_t pages = 0;
        WriteSequence sequence{0};
    };
    struct Copied {
        SimTime end;
        std::uint32_t copies = 0;
        bool target_failed = false;
    };

    // merge_ftl.cpp: requests
    [[nodiscard]] std::optional<Ppn> locate(Lpn lpn) const;
    [[nodiscard]] FtlResult<std::uint32_t> append(const Place& place, Lpn first, std::span<const std::byte> from, const Io& io, SimTime& done);
    void adopt(Lpn lpn, LogSlot slot, std::uint32_t page);
    void forget(Lpn lpn);
    [[nodiscard]] FtlResult<void> merge_homes_of(LogSlot slot, SimTime now, Cause cause);
    FtlError fail(const NandError& error, Lpn lpn);
    FtlError fail(FtlError error);

    // merge_ftl_merge.cpp
    [[nodiscard]] FtlResult<BlockPool::Taken> take_block(PlaneId plane, const Io& io);
    [[nodiscard]] Leaving new_job(SimTime now, Cause cause);
    void tell(const Leaving& job);
    [[nodiscard]] PlaneId plane_for(std::uint32_t turn) const { return spread_[turn % spread_.size()]; }
    [[nodiscard]] bool can_complete(LogSlot slot) const;
    [[nodiscard]] FtlResult<Copied> copy_mapped(LogicalBlock home, BlockId to, std::uint32_t from, std::uint32_t until, const Io& io);
    [[nodiscard]] FtlResult<bool> complete(LogSlot slot, SimTime now, Leaving& leaving);
    [[nodiscard]] FtlResult<void> gather(LogicalBlock home, SimTime now, Leaving& leaving);
    void install(LogicalBlock home, std::optional<BlockId> target, Leaving& leaving);
    void close_log(LogSlot slot, Leaving& leaving);
    void leave(BlockId block, Leaving& leaving);
    void push(Leaving leaving);

    // merge_ftl_journal.cpp
    /// Issues one record with every trim and opened log block, and the changes of merges that are done by `now` (all of them: `everything`). Returns
    /// when it is durable.
    enum class Commit : std::uint8_t { what_is_due, everything };
    [[nodiscard]] FtlResult<SimTime> commit(Commit what, SimTime now);
    [[nodiscard]] FtlResult<SimTime> checkpoint(bool is_clean, SimTime now);
    [[nodiscard]] SimTime state_ended(SimTime now) const;
    [[nodiscard]] FtlResult<SimTime> begin_checkpoint(SimTime now);
    [[nodiscard]] FtlResult<SimTime> finish_checkpoint(SimTime now);
    [[nodiscard]] FtlResult<void> free_left(std::size_t merges, SimTime now);
    FtlError broken(FtlError error);
    [[nodiscard]] MergeLimits limits() const;

    // For a ring that moves
    [[nodiscard]] std::optional<Lent> offer(PlaneId plane) override;
    void lend(BlockId offered) override;
    void give(BlockId block, SimTime ready) override;

    // merge_ftl_recovery.cpp
    struct Replay;
    void load(const MergeCheckpoint& checkpoint, Replay& replay);
    [[nodiscard]] FtlResult<SimTime> scan_logs(Replay& replay, SimTime now, FtlRecovery& report);
    void assign_roles(const Replay& replay);

    // merge_ftl_check.cpp
    void check_pages(std::vector<CheckProblem>& out);
    void check_page(Lpn lpn, std::vector<CheckProblem>& out);
    void check_logs(std::vector<CheckProblem>& out);
    void check_blocks(std::vector<CheckProblem>& out);

    MergeFtlConfig config_;
    EventSink& events_;
    BlockPool pool_;
    MetaLog meta_;
    std::vector<PlaneId> spread_;      ///< planes in the order in which neighbours take them
    std::vector<Role> role_;           ///< by block
    std::vector<std::uint32_t> owner_; ///< by block: the logical block of a data block, the slot of a log block
    std::vector<Leaving> leaving_;     ///< in order; committed as prefixes
    std::vector<BlockId> leaving_blocks_;
    std::map<Lpn, Ppn> lost_; ///< logical pages that could not be read to be copied, and the places that were left erased for them
    std::vector<std::byte> changes_;
    std::size_t leaving_bytes_ = 0;     ///< of changes_, by merges in leaving_
    std::vector<Trim> trims_;           ///< applied here, not on flash
    std::vector<std::byte> opens_;      ///< log blocks opened and not named yet
    std::vector<LogSlot> unnamed_;      ///< their slots; some may be closed again
    SimTime opens_ready_ = sim_start;   ///< they are erased by then
    std::vector<std::byte> checkpoint_; ///< the one under way
    std::vector<std::byte> record_;
    std::uint64_t next_sequence_ = 1;
    std::uint32_t turn_ = 0; ///< of shared log blocks over the planes
    FtlCounters counters_;
    MergeCounters counted_;
    SimTime durable_at_ = sim_start; ///< everything answered, and every program of a log block, has ended by then
    bool read_only_ = false;
    bool is_broken_ = false; ///< nothing can be recorded any more: the journal's blocks or the image failed
    std::vector<PageRead> reads_;
    std::uint32_t log_limit_ = 0xffff'ffff;
    SharedReclaims shared_reclaims_;
    GhostBitmap* ghost_ = nullptr;  ///< of pages that merges took out of shared log blocks
    std::optional<LogCurve> curve_; ///< of the shared log blocks
    std::uint64_t blocks_left_ = 0; ///< by merges; each is erased
};

} // namespace flashlab
