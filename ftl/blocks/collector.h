/// Garbage collection of a page-mapping scheme: which block, when, and how much of it at a time.
///
/// Idea       A collection copies what is valid out of the victim that the policy names, has the scheme forget the victim, and erases it: a few
///            copies with each row that the host writes, in slices when nobody does, a whole victim where nothing else is free. A victim that
///            the host overwrites in order is left to it while there is another way. A block whose program failed is collected, too, and marked bad.
///            With nand.one_shot victims of all planes of a die are emptied beside each other: planes that sense at once fill a line soonest. The
///            last copies, less than a line, are programmed together with the host's next units.
/// Invariant  B3 a victim is erased only when nothing in it is valid, and not before forget() says.
/// Cost       One virtual call a copied unit. No allocation in steady state.
/// Power cut  RAM only: a collection under way is forgotten.
/// Source     Kawaguchi et al., USENIX 1995, for collection; pacing: ftl/DESIGN-pages.md.
#pragma once

#include <algorithm>
#include <bitset>
#include <memory>
#include <vector>

#include "ftl/blocks/frontiers.h"
#include "ftl/blocks/row_programmer.h"
#include "ftl/blocks/separation_policy.h"
#include "ftl/blocks/victim_policy.h"

namespace flashlab {

class Collector {
public:
    /// All but the victim policy live as long; `separation` may be null.
    Collector(const PageBlocksConfig& config, BlockLedger& ledger, Frontiers& frontiers, RowProgrammer& rows, NandArray& array, EventSink& events,
              PageOwner& owner, std::unique_ptr<VictimPolicy> policy, const SeparationPolicy* separation);

    // collector_pace.cpp: when, and how much
    /// Collects until a whole row of planes and what is kept are free, the collections' own superblock has room, or nothing is worth it.
    [[nodiscard]] FtlResult<void> collect_for_host(GroupId group, FrontierId frontier, SimTime now);
    /// A collection's share of the host's next units: when the open superblock is full, which both may fill, a whole row of planes shall be free. A
    /// collection that is made in one go when nothing is free keeps everybody waiting for a whole block's copies, and, in a log's order, those of
    /// other dies, too. True: the share is what read_riders() gives.
    [[nodiscard]] FtlResult<bool> keep_pace(GroupId group, FrontierId frontier, std::uint32_t host_units, SimTime now);
    /// A superblock for the host could be opened only after copies out of a block that the host is emptying.
    [[nodiscard]] bool waits_for_host(GroupId group, FrontierId frontier) const;
    /// Little in that block is valid: its space costs fewer copies than that of data.
    [[nodiscard]] bool compacts_cheaply(GroupId group) const;
    /// Collects one block of the frontiers that have blocks of their own; true when that gained a page at least.
    [[nodiscard]] FtlResult<bool> compact(GroupId group, SimTime now, Cause cause = Cause::gc);
    /// A block of that part of the cache that is free without more ado than a few copies becomes so: the part has no other. While the host has yet to
    /// fill the drive, blocks of the main region in which nothing is valid serve the dynamic part as well.
    [[nodiscard]] FtlResult<void> fold_cheaply(GroupId group, FrontierId part, SimTime now);
    /// There is such a block.
    [[nodiscard]] bool can_fold_cheaply(GroupId group, FrontierId part) const { return cheapest_to_fold(group, part).has_value(); }
    /// The dynamic cache may open a superblock: the group may lend more, and then keeps free what keeps collections away.
    [[nodiscard]] bool can_lend(GroupId group) const;
    /// That part of the cache takes pages without a copy.
    [[nodiscard]] bool has_room_in(GroupId group, FrontierId part) const;
    /// The host has written: nothing is folded for a while. That it has read, idle() sees itself.
    void note_written(SimTime now) { asked_at_ = std::max(asked_at_, now); }
    /// While the host asks for nothing; when to come back.
    [[nodiscard]] SimTime idle(SimTime now);

    // collector.cpp: how
    [[nodiscard]] FtlResult<SimTime> relocate(BlockId block, SimTime now, Cause cause);
    /// A program failed in it: what is valid in it moves when retire_failed() is called, then it is marked bad.
    void note_failed(BlockId block) {
        if (!is_failing(block)) failed_.push_back(block);
    }
    [[nodiscard]] bool has_failed() const { return !failed_.empty(); }
    [[nodiscard]] bool is_failing(BlockId block) const { return std::ranges::find(failed_, block) != failed_.end(); }
    [[nodiscard]] FtlResult<SimTime> retire_failed(SimTime now);
    /// The group's collections are given up.
    void give_up(GroupId group);

    // collector_lines.cpp: with nand.one_shot, what is left of a collection is programmed in one word line with the host's next units
    struct Riders {
        std::uint32_t units = 0; ///< the first ones of the line
        SimTime ready;           ///< they have been read
    };
    /// Copies that make a whole line together with so many units of the host.
    [[nodiscard]] Riders read_riders(GroupId group, const OpenSuperblock& set, std::uint32_t host_units, SimTime now);
    /// Valid until the next call of another function.
    [[nodiscard]] UnitContent rider(std::uint32_t i, StreamId stream) const;
    /// The line, of `count` units from set.next on, ends then.
    void note_riders(OpenSuperblock& set, std::uint32_t count, SimTime end);

    [[nodiscard]] bool is_under_way() const { return under_way_ != 0; }
    [[nodiscard]] std::uint64_t jobs() const { return jobs_made_; }
    [[nodiscard]] std::uint64_t page_copies() const { return page_copies_; }
    /// Of them, those out of the cache.
    [[nodiscard]] std::uint64_t folded_pages() const { return folded_pages_; }
    [[nodiscard]] std::vector<BlockId> victims() const;

private:
    /// One collection; survives between slices.
    struct Job {
        std::optional<BlockId> victim;
        bool retire = false;    ///< mark bad instead of erasing
        bool is_alone = false;  ///< something in it could not be read: no line of the host takes its copies
        std::uint32_t next = 0; ///< unit to look at
        SimTime start = sim_start;
        SimTime last_end = sim_start; ///< of its copies
        SimTime next_slice = sim_start;
        std::uint32_t copied = 0;                             ///< out of this victim
        std::uint32_t victims = 1;                            ///< that were begun together
        std::uint32_t made = 0;                               ///< copies out of all of them
        std::bitset<PageBlocksConfig::most_frontiers> into{}; ///< frontiers that its copies went to
        std::uint32_t ahead = 0;                              ///< copies beyond what the host's pages were due: of a word line begun
        EventId id = no_event;
        Cause cause = Cause::gc;
        std::uint32_t pages = 0; ///< of the victim
    };
    enum class JobEnd : std::uint8_t { finished, paused, no_room, unreadable };
    /// How far a job is run in one go.
    struct Slice {
        SimTime until = sim_never;                ///< or somewhat beyond: this has been reserved
        std::uint32_t copies = ~std::uint32_t{0}; ///< at most
        bool in_lines = false;                    ///< what would be a part of one is left for the host's next line
    };
    struct Jobs {
        Job job;
        Job inner;               ///< makes room for a frontier but the host's, also while `job` is under way
        Job fold;                ///< empties a block of the cache at rest, or where that costs little
        std::vector<Job> beside; ///< of `job`, on other planes: each line takes units of all; none without `job`
    };

    struct LineUnit {
        UnitId from;
        PageOob oob;
        Job* job;
    };

    /// A group with more than `enough` free blocks begins no collection.
    [[nodiscard]] SimTime idle_group(GroupId group, std::uint32_t enough, SimTime now);
    [[nodiscard]] std::optional<BlockId> choose_victim(GroupId group, std::uint32_t first_kind) const;
    [[nodiscard]] SimTime fold_idle(GroupId group, SimTime now);
    [[nodiscard]] std::optional<BlockId> cheapest_to_fold(GroupId group, FrontierId part) const;
    [[nodiscard]] std::optional<BlockId> oldest_to_fold(GroupId group) const;
    [[nodiscard]] bool may_lend(GroupId group) const {
        return ledger_.lent_in(group) + array_.geometry().planes_per_die() <= config_.cache.dynamic_blocks_a_group;
    }
    /// A block of the main region in which nothing is valid.
    [[nodiscard]] std::optional<BlockId> empty_block(GroupId group) const;
    [[nodiscard]] Job& job_for(BlockId victim) {
        return ledger_.is_cache(victim) || jobs_of(victim).fold.victim == victim ? jobs_of(victim).fold : jobs_of(victim).job;
    }
    [[nodiscard]] Jobs& jobs_of(BlockId victim) { return jobs_[ledger_.group_of(victim).value()]; }
    /// Blocks that copies out of the victim leave, where nothing depends on them.
    [[nodiscard]] std::uint32_t keeps_free(BlockId victim) const {
        return ledger_.is_cache(victim) ? frontiers_.writes_keep_free(host_frontier) : frontiers_.copies_keep_free(victim);
    }
    /// What is invalid in it was written first: the host overwrites it in the order in which it was written, and will have emptied it soon.
    [[nodiscard]] bool host_empties(BlockId block) const;
    void start(Job& job, BlockId victim, bool retire, SimTime now, Cause cause = Cause::gc);
    [[nodiscard]] FtlResult<JobEnd> run(Job& job, SimTime now, Slice slice, std::uint32_t keep_free);
    void look_ahead(BlockId victim, std::uint32_t from) const;
    [[nodiscard]] FtlResult<JobEnd> copy_unit(Job& job, UnitId from, SimTime now, std::uint32_t keep_free);
    // collector_lines.cpp
    void start_beside(GroupId group, SimTime now);
    [[nodiscard]] std::uint32_t shortest_plane(GroupId group, std::uint32_t but_for) const;
    [[nodiscard]] std::uint64_t left_of(GroupId group) const;
    [[nodiscard]] std::uint64_t room_for_copies(GroupId group, bool with_next = false) const;
    [[nodiscard]] bool map_opens_soon(GroupId group) const;
    [[nodiscard]] FtlResult<JobEnd> copy_line(Job& job, UnitId first, SimTime now, std::uint32_t keep_free);
    void take_line(Job& job, UnitId first, FrontierId wished, std::uint32_t most);
    void take_page(Job& job, std::uint32_t& at, FrontierId wished, std::uint32_t most);
    [[nodiscard]] std::expected<SimTime, NandError> read_line(const Io& io);
    [[nodiscard]] std::expected<void, NandError> place_line(Job& job, OpenSuperblock& set, StreamId stream, SimTime read);
    void note_line(std::span<const LineUnit> copies, OpenSuperblock& set, std::uint32_t count, SimTime end);
    [[nodiscard]] std::uint32_t take_riders(GroupId group, const OpenSuperblock& set, std::uint32_t host_units);
    [[nodiscard]] FtlResult<void> finish_ridden(GroupId group, SimTime now);
    [[nodiscard]] FtlResult<void> finish_emptied(GroupId group, SimTime now);
    /// The group's job has ended: one of those beside it takes its place.
    void go_on_beside(Job& job, GroupId group);
    void drop_beside(GroupId group);

    /// The copy could not be made: true when it is to be tried again elsewhere.
    [[nodiscard]] FtlResult<bool> failed_copy(const NandError& error, GroupId group, FrontierId frontier, BlockId victim);
    void note_copy(Job& job, OpenSuperblock& set, const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) {
        ledger_.invalidate(from, end);
        ledger_.validate(to);
        owner_.moved(oob, from, to, column, end);
        set.last_end = std::max(set.last_end, end);
        if (!set.row_ends.empty()) {
            SimTime& row = set.row_ends[ledger_.units().index_in_block(to) / set.depth];
            row = std::max(row, end);
        }
        job.last_end = std::max(job.last_end, end);
        job.into.set(set.frontier.value());
        ++job.copied;
        page_copies_ += ledger_.units().pages_per_unit();
        if (job.cause == Cause::fold) folded_pages_ += ledger_.units().pages_per_unit();
    }
    [[nodiscard]] FrontierId frontier_for_copy(BlockId victim, UnitId from) const {
        return separation_ == nullptr ? FrontierId{config_.copies_to(ledger_.kind_of(victim))} : frontier_by_policy(victim, from);
    }
    [[nodiscard]] FrontierId frontier_by_policy(BlockId victim, UnitId from) const;
    /// The wished frontier where it has room, else what open_for_copy() says.
    [[nodiscard]] FtlResult<std::optional<FrontierId>> room_for_copy(GroupId group, FrontierId wished, SimTime now, std::uint32_t keep_free) {
        return frontiers_.open(group, wished).has_room() ? std::optional{wished} : open_for_copy(group, wished, now, keep_free);
    }
    /// The wished frontier, whose superblock is full, gets a new one; else another of its kind has room, or none.
    [[nodiscard]] FtlResult<std::optional<FrontierId>> open_for_copy(GroupId group, FrontierId wished, SimTime now, std::uint32_t keep_free);
    [[nodiscard]] std::expected<CopiedPage, NandError> program_copy(const OpenSuperblock& set, UnitId from, UnitId to, StreamId stream, const Io& io);
    [[nodiscard]] FtlResult<SimTime> finish(Job& job, SimTime now);
    /// When the controller begins with so many units that are folded, which keep it busy.
    [[nodiscard]] SimTime fold_from(BlockId victim, std::size_t units, SimTime now);
    [[nodiscard]] FtlResult<SimTime> give_back(Job& job, SimTime forgotten);
    void drop(Job& job);
    void tell(const Job& job, SimTime end, FrontierId of_victim);
    [[nodiscard]] FtlResult<bool> gain_for_fold(GroupId group, SimTime now);
    [[nodiscard]] FtlResult<SimTime> collect_now(BlockId victim, bool retire, SimTime now, Cause cause = Cause::gc);

    const PageBlocksConfig& config_;
    BlockLedger& ledger_;
    Frontiers& frontiers_;
    RowProgrammer& rows_;
    NandArray& array_;
    EventSink& events_;
    PageOwner& owner_;
    std::unique_ptr<VictimPolicy> policy_;
    const SeparationPolicy* separation_;
    std::vector<Jobs> jobs_;      ///< by group
    std::vector<BlockId> failed_; ///< a program failed: to be retired
    std::uint64_t jobs_made_ = 0;
    std::uint64_t page_copies_ = 0;
    std::uint64_t folded_pages_ = 0;
    SimTime asked_at_ = sim_start; ///< by the host: when it last wrote, or had read at a look
    std::uint64_t pages_read_ = 0; ///< for the host, at the last look
    SimTime line_at_ = sim_start;  ///< written past the cache
    std::uint32_t under_way_ = 0;  ///< on the call stack: nothing is retired meanwhile
    struct Cursor {
        Job* job;
        std::uint32_t at; ///< unit of its victim
    };
    std::vector<LineUnit> line_; ///< that is copied at once
    Origin riders_by_;           ///< in whose name the copies of a line of the host are programmed
    std::vector<Cursor> cursors_;
    std::vector<std::byte> line_data_;
    std::vector<PageRead> reads_;
    std::vector<SimTime> folder_free_; ///< by channel, where folding takes work of the controller
};

} // namespace flashlab
