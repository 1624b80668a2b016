/// How a page-mapping scheme without PRAM comes back: checkpoints of its map, trims between them, and the OOB of what was programmed since.
///
/// Idea       A checkpoint holds the scheme's map and where the open superblocks stood. It is written anew when `interval_blocks` blocks were opened
///            since, and paced with the programs that follow: it is whole when a quarter of that is programmed, and says how things were when it
///            began. So a recovery reads one and a quarter of that many blocks at most. Trims wait in RAM; a flush makes them one record. A clean
///            shutdown writes a checkpoint that also says what every block is: the next mount reads nothing else.
/// Invariant  J1 a checkpoint starts after every program that its map names has ended, and after the record of every trim that its map knows.
///            J2 after a clean shutdown nothing is programmed before the record
///            that says "mounted" has ended. J3 a block that holds the newest version of a page whose trim waits is not erased before that trim is
///            durable: else a cut would bring back a version older than any that the host may see. J4 recover() gives the same answer however often
///            it is cut and repeated.
/// Cost       Map / interval in writes; 16 bytes a trimmed range until the flush. RAM: the checkpoint while it is written.
/// Power cut  The newest whole checkpoint, the trims after it and the census of blocks say what was: C1 to C4, C6.
/// Source     docs/crash-model.md, C1 to C4, C6. Bytes: ftl/FORMAT.md.
#pragma once

#include "ftl/blocks/page_blocks.h"
#include "ftl/recovery/map_rebuild.h"
#include "ftl/recovery/meta_log.h"

namespace flashlab {

struct PageJournalConfig {
    PageCheckpointShape shape;
    std::uint32_t interval_blocks = 0; ///< blocks opened between checkpoints; 0: so many that checkpoints are one page in a hundred
    MetaArea area;
};

class PageJournal {
public:
    enum class Record : std::uint32_t { trims = 1, mounted = 2 };

    PageJournal(PageJournalConfig config, NandArray& array, PageBlocks& blocks);

    /// What the flash says; the scheme builds its map and sets the valid bits, then calls load().
    struct Start {
        bool is_new = false;
        bool was_clean = false;
        PageCheckpoint checkpoint;
        std::vector<std::byte> scheme_part;
        BlockCensus census; ///< after an unclean end
        TrimHistory trims;
        SimTime done;
    };
    [[nodiscard]] FtlResult<Start> recover(SimTime now, FtlRecovery& report);
    /// The blocks as the valid bits and the census have them; returns when the first program may start.
    [[nodiscard]] FtlResult<SimTime> load(const Start& start, SimTime now);

    /// A range that reads zeros from now on; takes the next sequence.
    void trimmed(Lpn first, std::uint32_t pages);
    /// The newest version of a trimmed page lies in `block`: while the trim waits, an older one may be on flash that only this one outdates.
    void keep_until_flushed(BlockId block) {
        if (!holds_trimmed_[block.value()]) with_trimmed_.push_back(block);
        holds_trimmed_[block.value()] = true;
    }
    [[nodiscard]] bool is_kept(BlockId block) const { return holds_trimmed_[block.value()]; }
    /// The record of every trim that no longer waits has ended by then: no block that was kept is erased before.
    [[nodiscard]] SimTime trims_durable_at() const { return trims_durable_at_; }
    /// True when trims fill a page: flush_trims() is due although nobody asked.
    [[nodiscard]] bool is_full() const;
    /// When every trim so far is durable. `map` as for checkpoint(): written instead when the ring is short.
    [[nodiscard]] FtlResult<SimTime> flush_trims(std::span<const std::byte> map, const Io& io);
    /// False: trims wait, and a device that is read-only cannot record them. It still can while the ring has room and the image is sound.
    [[nodiscard]] bool can_flush_read_only() const {
        return pending_.count() == 0 || (!is_broken_ && !blocks_.has_failed_image() && !log_.needs_checkpoint(pending_.encoded_bytes()));
    }
    [[nodiscard]] bool needs_map_to_flush() const { return pending_.count() != 0 && log_.needs_checkpoint(pending_.encoded_bytes()); }
    [[nodiscard]] bool is_checkpoint_due() const { return blocks_.next_stamp() - stamp_at_checkpoint_ >= interval_superblocks_; }
    /// True when pace() would begin a checkpoint: it needs the map.
    [[nodiscard]] bool begins_checkpoint() const { return !log_.is_writing() && is_checkpoint_due(); }
    /// Begins the checkpoint that is due, or writes as much of the one under way as the programs since its begin ask for.
    /// `map` as for checkpoint(), and needed only if begins_checkpoint(). Nobody waits for it. One larger than planned is put off:
    /// a table is above its size where no block is to be had for its translation pages.
    [[nodiscard]] FtlResult<void> pace(std::span<const std::byte> map, const Io& io);
    /// The rest of the one under way, once the host has asked the flash for nothing for a while: a page on each plane of the ring, at most a fifth of
    /// the time. Beside requests reads would wait for a program each; writes, which pace() goes with, hide it. When to come back.
    [[nodiscard]] FtlResult<SimTime> pace_idle(SimTime now);
    /// `now` is not before the end of any program that `map` names.
    [[nodiscard]] FtlResult<SimTime> checkpoint(std::span<const std::byte> map, const Io& io);
    /// False: neither checkpoint() nor shut_down() can take a map of so many bytes.
    [[nodiscard]] bool can_end_with(std::size_t map_bytes) const { return log_.is_planned(head(true).encoded_bytes(map_bytes)); }
    /// The last one: nothing is programmed afterwards.
    [[nodiscard]] FtlResult<SimTime> shut_down(std::span<const std::byte> map, SimTime now);

    [[nodiscard]] std::uint64_t checkpoints() const { return checkpoints_; }
    [[nodiscard]] std::vector<CheckProblem> check() const { return log_.check(); }
    [[nodiscard]] static std::uint64_t checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t frontiers,
                                                                std::uint64_t scheme_bytes);

private:
    [[nodiscard]] PageCheckpoint head(bool clean) const;
    [[nodiscard]] FtlResult<SimTime> begin(std::span<const std::byte> map, const Io& io);
    [[nodiscard]] FtlResult<SimTime> go_on(std::uint32_t pages, SimTime now);
    [[nodiscard]] FtlResult<SimTime> finish(SimTime now);
    [[nodiscard]] std::uint64_t programs() const;
    [[nodiscard]] FtlResult<SimTime> write_checkpoint(bool clean, std::span<const std::byte> map, const Io& io);
    [[nodiscard]] FtlResult<SimTime> written(FtlResult<SimTime> done);
    void trims_are_durable(SimTime at);
    void load_clean(const PageCheckpoint& checkpoint);
    void load_unclean(const Start& start);

    PageJournalConfig config_;
    NandArray& array_;
    PageBlocks& blocks_;
    MetaLog log_;
    PendingTrims pending_;
    std::vector<BlockId> outside_;  ///< the ring's as it lay at the mount, sorted
    std::vector<std::byte> buffer_; ///< a checkpoint, until it is whole
    std::vector<std::byte> record_;
    std::uint64_t programs_at_begin_ = 0; ///< of the checkpoint under way
    SimTime next_idle_ = sim_start;
    std::uint64_t asked_ = 0; ///< pages that the host had read and programmed when it was last looked whether it is idle
    std::uint32_t interval_superblocks_ = 0;
    std::uint32_t stamp_at_checkpoint_ = 1;
    std::uint64_t checkpoints_ = 0;
    std::vector<bool> holds_trimmed_; ///< by block
    std::vector<BlockId> with_trimmed_;
    SimTime trims_durable_at_ = sim_start;
    bool is_broken_ = false; ///< the ring or the image failed: nothing can be recorded any more
};

} // namespace flashlab
