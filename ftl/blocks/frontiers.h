/// The superblocks that a page-mapping scheme writes: when one is opened, of which blocks, and when it becomes data.
///
/// Idea       Each frontier of a group is one open superblock, filled row by row across the planes, and one that closes: its blocks are data once
///            every program of it, and of what replaced its units, has ended.
/// Invariant  A frontier has one open superblock at most, of blocks on different planes, and one closing.
///            B5 a superblock is programmed only once the blocks that its opening leaves free, but for one, are forgotten: a cut leaves them free,
///            too.
/// Cost       No allocation in steady state; an opening looks at each plane of the die for each column.
/// Power cut  RAM only. After a mount the scheme says which superblocks go on (resume).
/// Source     Kim et al. (HY) for the superblock that is written and then becomes data.
#pragma once

#include <algorithm>
#include <vector>

#include "ftl/blocks/block_ledger.h"
#include "ftl/blocks/page_owner.h"

namespace flashlab {

class Frontiers {
public:
    /// `config` and `ledger` live as long.
    Frontiers(const PageBlocksConfig& config, BlockLedger& ledger, NandArray& array, PageOwner& owner);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] OpenSuperblock& open(GroupId group, FrontierId frontier) { return at(group, frontier).open; }
    [[nodiscard]] const OpenSuperblock& open(GroupId group, FrontierId frontier) const { return at(group, frontier).open; }
    [[nodiscard]] const OpenSuperblock& closing(GroupId group, FrontierId frontier) const { return at(group, frontier).closing; }

    /// Takes a free block on each plane, the planes with most free blocks first, and leaves `keep_free` in the group. False when there was none to
    /// take; `failed_at`: when a block was lost on the way.
    [[nodiscard]] bool open_superblock(GroupId group, FrontierId frontier, SimTime now, std::uint32_t keep_free, SimTime& failed_at);
    /// The open superblock becomes the closing one; what was closing is closed first.
    void retire_open(GroupId group, FrontierId frontier);
    /// Closes what is due.
    void close_due(GroupId group, SimTime now);
    /// What could be collected and is not yet becomes data: closing superblocks of the host, full ones of all streams but this one, and what the
    /// dynamic cache has open.
    void close_full(GroupId group, FrontierId stream_frontier, SimTime now);
    /// A block that is open or closing becomes data; false when it cannot be collected then either.
    [[nodiscard]] bool close_holder(BlockId block, SimTime now);
    /// The group's closing superblocks are closed, full ones too. What is open stays as it is.
    void settle_down(GroupId group, SimTime now);

    // Mount
    void resume(GroupId group, FrontierId frontier, std::span<const OpenColumn> columns, std::uint32_t next, std::uint32_t stamp);
    void set_ready(SimTime ready);
    void set_next_stamp(std::uint32_t stamp) { next_stamp_ = stamp; }

    /// Another frontier of the same kind whose superblock has room: where a page goes whose own stream has none.
    [[nodiscard]] std::optional<FrontierId> other_with_room(GroupId group, FrontierId frontier) const;
    /// Units that the group's open superblocks of that kind have room for; when the last program of these ends.
    [[nodiscard]] std::uint64_t open_room(GroupId group, std::uint32_t kind) const;
    [[nodiscard]] SimTime last_end(GroupId group, std::uint32_t kind) const;
    /// All programs of the superblock, and of what replaced its units, end by then.
    [[nodiscard]] SimTime close_ready(const OpenSuperblock& set) const;
    /// When the first of the group's closing superblocks can be closed; sim_never when none closes.
    [[nodiscard]] SimTime next_close(GroupId group) const;
    /// Every program of this block ends by then, for blocks programmed since the mount.
    [[nodiscard]] SimTime programmed_by(BlockId block) const {
        if (ledger_.state(block) != BlockLedger::State::open) return ledger_.closed_by(block);
        const Frontier& f = at(ledger_.group_of(block), ledger_.frontier_of(block));
        return std::max(f.open.last_end, f.closing.last_end);
    }
    /// The same of one unit: of those that are not closed, the programs of its row. For schemes with a map on flash.
    [[nodiscard]] SimTime programmed_by(UnitId unit) const {
        const BlockId block = ledger_.units().block_of(unit);
        if (ledger_.state(block) != BlockLedger::State::open) return ledger_.closed_by(block);
        const Frontier& f = at(ledger_.group_of(block), ledger_.frontier_of(block));
        const OpenSuperblock& set = f.open.holds(block) ? f.open : f.closing;
        return set.row_ends[ledger_.units().index_in_block(unit) / set.depth];
    }
    [[nodiscard]] std::uint32_t next_stamp() const { return next_stamp_; }
    /// Units that open superblocks have room for.
    [[nodiscard]] std::uint64_t open_room() const;
    [[nodiscard]] std::uint32_t writes_keep_free(FrontierId frontier) const {
        return config_.keep_free(ledger_.units(), ledger_.spare_units(), frontier);
    }
    [[nodiscard]] std::uint32_t copies_keep_free(BlockId victim) const { return config_.rule_of(ledger_.frontier_of(victim)).copies_keep_free; }
    /// The same of a collection that host pages come between. Streams of copies open their superblocks of what the host keeps: it is kept for that.
    [[nodiscard]] std::uint32_t slices_keep_free(BlockId victim) const {
        return std::max(copies_keep_free(victim),
                        config_.streams == 1 ? writes_keep_free(host_frontier) : config_.rule_of(host_frontier).writes_keep_free);
    }
    /// Blocks of open and closing superblocks.
    [[nodiscard]] std::vector<BlockId> held_blocks() const;

private:
    struct Frontier {
        OpenSuperblock open;
        OpenSuperblock closing;
    };
    [[nodiscard]] Frontier& at(GroupId group, FrontierId frontier) { return all_[std::size_t{group.value()} * count() + frontier.value()]; }
    [[nodiscard]] const Frontier& at(GroupId group, FrontierId frontier) const {
        return all_[std::size_t{group.value()} * count() + frontier.value()];
    }
    [[nodiscard]] std::optional<PlaneId> fullest_plane(GroupId group, const FreeBlocks& free, const OpenSuperblock& without) const;
    void set_shape(OpenSuperblock& set, FrontierId frontier) const;
    [[nodiscard]] std::optional<SimTime> take_erased(const FreeBlock& taken, CellType mode, SimTime now, SimTime& failed_at);
    [[nodiscard]] SimTime forgotten_by(GroupId group, std::uint32_t blocks, SimTime now) const;
    void close(OpenSuperblock& set, SimTime now);

    const PageBlocksConfig& config_;
    const std::uint32_t count_; ///< of the configuration: each row and each copy asks
    BlockLedger& ledger_;
    NandArray& array_;
    PageOwner& owner_;
    std::vector<Frontier> all_;          ///< by group, then by frontier
    std::vector<std::uint32_t> closing_; ///< by group: its frontiers whose closing superblock is active; each request asks
    std::uint32_t next_stamp_ = 1;
};

} // namespace flashlab
