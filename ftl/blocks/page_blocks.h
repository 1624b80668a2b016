/// The blocks of a page-mapping scheme, as the scheme sees them: new pages get their place, everything else follows. Each scheme brings its own
/// mapping.
///
/// Idea       Three parts, each with one reason to change: BlockLedger owns blocks and counts, Frontiers opens and closes superblocks, Collector
///            makes room and keeps pace. Here a row of new pages gets its group, the first in turn whose next plane is idle, and its stream.
/// Invariant  B1, B2, B4, B6, B7: block_ledger.h. B3: collector.h. B5: frontiers.h. Write sequences grow, and none is used twice.
/// Cost       RAM: 1 bit a unit, about 70 bytes a block. No allocation in steady state; one virtual call a copied unit.
/// Power cut  RAM only. After a mount the scheme says what each block is (load_block) and which superblocks go on (resume).
#pragma once

#include "ftl/blocks/collector.h"
#include "ftl/blocks/earliest_turn.h"

namespace flashlab {

/// Logical pages that follow each other, or those of a list.
struct PagesToWrite {
    Lpn first{0};
    std::uint32_t pages = 0;
    std::span<const std::byte> from{}; ///< empty: no payload
    std::span<const Lpn> each{};       ///< empty: from `first` on
    [[nodiscard]] Lpn lpn(std::uint32_t i) const { return each.empty() ? Lpn{first.value() + i} : each[i]; }
};

/// Some of them, for one row of a superblock.
struct RowWrite : PagesToWrite {
    PageKind kind = PageKind::data;
    FrontierId frontier{0};
    std::uint32_t before = 0;       ///< pages of the same request that have their place,
    std::uint32_t of = 0;           ///< of so many: they are spread; 0: rows are filled
    std::optional<GroupId> group{}; ///< none: the least busy one with room
    bool is_wish = false;           ///< that group and frontier: without room there, any group's host frontier
    bool can_wait = false;          ///< no_free_block is told, and is not the end of the device; no copies of collections come between
};
/// With nand.one_shot: of several rows, which are filled one after the other.
struct PlacedRow {
    std::uint32_t count = 0;               ///< 0: a program failed, come again
    std::uint32_t row = 0;                 ///< its first unit in each column
    std::uint32_t depth = 1;               ///< so many units of each column, then the next one's
    std::span<const OpenColumn> columns{}; ///< of a row's units; valid until the next call
    SimTime end;
    std::uint32_t behind = 0; ///< so many places that copies of a collection have
};

/// What a scheme may choose; `separation` null: one stream.
struct BlockPolicies {
    std::unique_ptr<VictimPolicy> victim;
    std::unique_ptr<SeparationPolicy> separation = nullptr;
};

class PageBlocks {
public:
    using BlockState = BlockLedger::State;
    using LoadAs = BlockLedger::LoadAs;

    PageBlocks(PageBlocksConfig config, NandArray& array, EventSink& events, PageOwner& owner, BlockPolicies policies);
    PageBlocks(const PageBlocks&) = delete;
    PageBlocks& operator=(const PageBlocks&) = delete;

    // Requests
    [[nodiscard]] FtlResult<PlacedRow> write_row(const RowWrite& write, const Io& io) {
        return config_.has_cache() && config_.kind_of(write.frontier) == 0 ? write_to_cache(write, io) : write_to_main(write, io);
    }
    /// When a page may be written there; may collect. A write_row() to the same place that follows at once collects nothing.
    [[nodiscard]] FtlResult<SimTime> make_room(GroupId group, FrontierId frontier, SimTime now);
    struct StreamRun {
        FrontierId frontier{0};
        std::uint32_t pages = 0;
    };
    /// How many of these pages, the ones from `from` on, belong to one stream, and its frontier.
    [[nodiscard]] StreamRun stream_run_of(const PagesToWrite& what, std::uint32_t from, std::uint32_t pages, const Io& io) {
        return separation_ ? stream_run(what, from, pages, io) : StreamRun{host_frontier, pages};
    }
    /// A page that the host wrote has its place.
    void note_written(Lpn lpn) {
        if (separation_) separation_->written(lpn);
    }
    [[nodiscard]] UnitId unit_of(const PlacedRow& placed, std::uint32_t i) const {
        const auto in_row = static_cast<std::uint32_t>(placed.columns.size()) * placed.depth;
        const std::uint32_t at = i + placed.behind, row = at / in_row * placed.depth + at % placed.depth;
        return units().unit_at(placed.columns[at % in_row / placed.depth].block, placed.row + row);
    }
    /// How many pages one call of write_row() places at most.
    [[nodiscard]] std::uint32_t most_at_once() const { return rows_.most_at_once(); }
    /// Of them, those that one program takes (Ftl::pages_a_line).
    [[nodiscard]] std::uint32_t units_a_line() const { return rows_.takes_lines() ? std::max(1u, most_at_once() / units().pages_per_unit()) : 1; }
    /// The new unit of a logical page; invalidate() its old one first.
    void validate(UnitId unit) { ledger_.validate(unit); }
    /// `end`: of the program or trim that made it so.
    void invalidate(UnitId unit, SimTime end) { ledger_.invalidate(unit, end); }
    /// Blocks whose program failed since the last call: what is valid in them moves, then they are marked bad.
    [[nodiscard]] FtlResult<SimTime> retire_failed(SimTime now) { return collector_.retire_failed(now); }
    [[nodiscard]] FtlResult<SimTime> relocate(BlockId block, SimTime now, Cause cause = Cause::wear) {
        return collector_.relocate(block, now, cause);
    }
    [[nodiscard]] SimTime idle(SimTime now) { return collector_.idle(now); }
    /// The array's error as the host hears of it; a failing image makes the device read-only.
    [[nodiscard]] FtlError fail(const NandError& error, Lpn lpn) { return ledger_.fail(error, lpn); }

    // Mount and shutdown
    void load_block(BlockId block, LoadAs as, FrontierId frontier) { ledger_.load(block, as, frontier); }
    void resume(GroupId group, FrontierId frontier, std::span<const OpenColumn> columns, std::uint32_t next, std::uint32_t stamp) {
        frontiers_.resume(group, frontier, columns, next, stamp);
    }
    /// After the last load_block(); nothing is programmed before `ready`.
    void finish_loading(SimTime ready);
    /// Collections are given up, closing superblocks closed. What is open stays as it is.
    void settle_down(SimTime now);
    void set_next(std::uint64_t sequence, std::uint32_t stamp);

    // What there is
    /// Where a ring that moves gets its blocks from.
    [[nodiscard]] BlockExchange& exchange() { return ledger_; }
    [[nodiscard]] std::uint32_t wear_threshold() const { return config_.wear_threshold; }
    [[nodiscard]] const UnitGeometry& units() const { return ledger_.units(); }
    [[nodiscard]] const ValidMap& valid() const { return ledger_.valid(); }
    [[nodiscard]] ValidMap& valid_to_load() { return ledger_.valid_to_load(); }
    [[nodiscard]] std::uint32_t groups() const { return ledger_.groups(); }
    /// Their dies in the order in which neighbouring pages take them; some come more than once.
    [[nodiscard]] std::span<const DieId> turns() const { return turns_; }
    /// The scheme's kinds and the further streams of data (PageBlocksConfig).
    [[nodiscard]] std::uint32_t frontiers() const { return frontiers_.count(); }
    [[nodiscard]] FrontierId own_frontier(std::uint32_t stream) const { return config_.own_frontier(stream); }
    /// Of the host's data.
    [[nodiscard]] std::uint32_t host_streams() const { return config_.streams - config_.own_streams; }
    /// Units that the stream's superblocks still take; of a group where none is open, those of a new one.
    [[nodiscard]] std::uint64_t room_of(StreamId stream) const;
    [[nodiscard]] std::vector<PlacementEvent> placement_events() const { return ledger_.placement_events(); }
    [[nodiscard]] std::uint32_t kind_of_frontier(FrontierId frontier) const { return config_.kind_of(frontier); }
    [[nodiscard]] const OpenSuperblock& open(GroupId group, FrontierId frontier = host_frontier) const { return frontiers_.open(group, frontier); }
    [[nodiscard]] const OpenSuperblock& closing(GroupId group, FrontierId frontier = host_frontier) const {
        return frontiers_.closing(group, frontier);
    }
    [[nodiscard]] GroupId group_of(BlockId block) const { return ledger_.group_of(block); }
    [[nodiscard]] BlockState state(BlockId block) const { return ledger_.state(block); }
    /// What kind of frontier it was opened for: 0 host data, then the scheme's own.
    [[nodiscard]] std::uint32_t kind_of(BlockId block) const { return ledger_.kind_of(block); }
    [[nodiscard]] const FreeBlocks& free_blocks() const { return ledger_.free(); }
    [[nodiscard]] std::uint32_t blocks_in_use() const { return ledger_.blocks_in_use(); } ///< all blocks of the groups, bad and outside ones too
    [[nodiscard]] std::uint32_t planes_in_use() const { return ledger_.planes_in_use(); }
    /// End of what made its units invalid; of its erase while it is free.
    [[nodiscard]] SimTime settled_at(BlockId block) const { return ledger_.settled_at(block); }
    /// All programs of the superblock, and of what replaced its units, end by then.
    [[nodiscard]] SimTime close_ready(const OpenSuperblock& set) const { return frontiers_.close_ready(set); }
    /// Every program of this block ends by then, for blocks programmed since the mount.
    [[nodiscard]] SimTime programmed_by(BlockId block) const { return frontiers_.programmed_by(block); }
    [[nodiscard]] SimTime programmed_by(UnitId unit) const { return frontiers_.programmed_by(unit); }
    [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
    [[nodiscard]] WriteSequence take_sequence() { return WriteSequence{next_sequence_++}; }
    [[nodiscard]] std::uint32_t next_stamp() const { return frontiers_.next_stamp(); }
    [[nodiscard]] std::uint64_t open_room() const { return frontiers_.open_room(); }
    [[nodiscard]] bool is_read_only() const { return ledger_.is_read_only(); }
    void set_read_only() { ledger_.set_read_only(); }
    /// Read-only because the host's image failed, not because the flash is worn out: nothing at all is written any more.
    [[nodiscard]] bool has_failed_image() const { return ledger_.has_failed_image(); }
    [[nodiscard]] bool has_failed_blocks() const { return collector_.has_failed(); }
    [[nodiscard]] FtlSpace space() const { return ledger_.space(); }
    [[nodiscard]] BlockStatus status_of(BlockId block, BlockUse data_use) const { return ledger_.status_of(block, data_use); }
    void count_into(FtlCounters& counters) const;
    /// Pages of the host that went to the cache, and pages that were folded.
    [[nodiscard]] std::uint64_t cached_pages() const { return cached_pages_; }
    [[nodiscard]] std::uint64_t folded_pages() const { return collector_.folded_pages(); }
    /// B1, B2.
    void check(std::vector<CheckProblem>& out) const { ledger_.check(frontiers_.held_blocks(), collector_.victims(), out); }

private:
    struct Chosen {
        GroupId group{0};
        bool is_idle = true;
        bool is_found = true;
    };
    struct Room {
        FrontierId frontier{0}; ///< the wished one, or another stream's
        SimTime ready;
    };
    [[nodiscard]] StreamRun stream_run(const PagesToWrite& what, std::uint32_t from, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<Room> room(GroupId group, FrontierId wished, SimTime now);
    [[nodiscard]] FtlResult<PlacedRow> write_to_cache(const RowWrite& asked, const Io& io);
    [[nodiscard]] FtlResult<PlacedRow> write_to_main(const RowWrite& asked, const Io& io);
    [[nodiscard]] FtlResult<PlacedRow> write_in(GroupId group, const Room& room, const RowWrite& write, std::uint32_t pages, const Io& io,
                                                bool takes_copies = false);
    [[nodiscard]] bool is_ahead(GroupId group, FrontierId part) const;
    [[nodiscard]] FtlResult<Room> cache_room(GroupId group, FrontierId part, SimTime now);
    template <class HasRoom>
    [[nodiscard]] Chosen choose_group(FrontierId frontier, SimTime now, const HasRoom& has_room);
    /// No plane of the die is free before.
    [[nodiscard]] SimTime least_free_at(DieId die) const;
    /// Less than half of the average room: it would collect almost full blocks while others have plenty.
    [[nodiscard]] bool has_little_room(GroupId group) const { return ledger_.room_in(group) * (std::uint64_t{2} * groups()) < ledger_.room(); }
    [[nodiscard]] GroupId roomiest_group() const;
    [[nodiscard]] std::uint32_t row_width(const RowWrite& write, bool is_idle) const;

    PageBlocksConfig config_;
    NandArray& array_;
    std::unique_ptr<SeparationPolicy> separation_;
    BlockLedger ledger_;
    Frontiers frontiers_;
    RowProgrammer rows_;
    Collector collector_;
    std::vector<DieId> turns_; ///< the groups in the order of the allocation
    EarliestTurn free_from_;   ///< each one's die, at least
    std::uint32_t next_turn_ = 0;
    std::uint32_t spread_over_; ///< dies that have a page of a request before any has two
    std::uint64_t next_sequence_ = 1;
    std::uint64_t cached_pages_ = 0;
};

} // namespace flashlab
