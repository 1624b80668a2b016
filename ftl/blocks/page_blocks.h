/// The blocks of a page-mapping scheme: open superblocks, free lists, garbage collection in slices, retirement. Each scheme brings its own mapping.
///
/// Idea       A group is a die. Each of its frontiers (host data; where a scheme asks for it, translation pages) is one open superblock, filled row by
///            row across the planes, and one that closes. A collector copies what is valid out of the victim that the policy names and erases it: a few
///            copies with each row that the host writes, in slices when nobody does, a whole victim where nothing else is free.
/// Invariant  B1 a unit's valid bit is set iff it is the newest version of something; counts, lists and groups agree with the bits.
///            B2 every good block is in exactly one set: free, open or closing, collectable, being collected, pinned; state_ agrees.
///            B3 a victim is erased only when nothing in it is valid, and not before forget() says.
///            B4 units that are not valid come to at least `spare_blocks_a_group` blocks a group, else the device is read-only: no write can deadlock
///               (ftl/DESIGN-pages.md, "Reserve").
///            B5 a superblock is programmed only once the blocks that its opening leaves free, but for one, are forgotten: a cut leaves them free, too.
///            B6 when wear is levelled, a full block that is worn more than its group's mean stands among the candidates as if it held more valid units than
///               it does, at most a quarter of a block more, never as if it held nothing to gain: it is collected later, and rests.
/// Cost       RAM: 1 bit a unit, about 70 bytes a block. No allocation in steady state; one virtual call a copied unit.
/// Power cut  RAM only. After a mount the scheme says what each block is (load_block) and which superblocks go on (resume).
/// Source     Kim et al. (HY) for the superblock that is written and then becomes data; Kawaguchi et al., USENIX 1995, for collection.
#pragma once

#include <memory>
#include <vector>

#include "ftl/blocks/allocation.h"
#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/page_owner.h"
#include "ftl/blocks/valid_map.h"
#include "ftl/blocks/victim_policy.h"
#include "ftl/recovery/block_exchange.h"
#include "nand/nand_array.h"

namespace flashlab {

/// How a frontier takes free blocks: each rule leaves enough to those that must go on when it cannot.
struct FrontierRule {
    std::uint32_t writes_keep_free = 2; ///< blocks left in the group when a superblock is opened for new pages
    std::uint32_t copies_keep_free = 0; ///< the same for a collection's copies
    std::uint32_t columns = 0;          ///< at most so many planes; 0 = all of the die
};

struct PageBlocksConfig {
    std::uint32_t groups = 1;               ///< dies used: the first ones
    Allocation allocation{};                ///< in which order rows take the groups
    std::uint32_t pages_per_unit = 1;
    std::uint32_t valid_units_at_most = 0;  ///< logical pages, translation pages included
    std::uint32_t spare_blocks_a_group = 3; ///< B4
    std::uint32_t gc_slice_us = 2000;
    std::uint32_t wear_threshold = 0;       ///< not 0: free blocks are taken by their erase counts, and worn ones rest (B6)
    std::vector<FrontierRule> frontiers{FrontierRule{}};
    std::uint32_t paced_from_spare = 2;     ///< collections keep pace with the host where the spare is so many times what they keep free
    bool closes_at_once = false;            ///< a full superblock is data right away: nothing durable waits for it
    bool stamps_pages = false;              ///< the OOB's word is the superblock's number, so that recovery knows blocks of this life
};

/// A run of new pages for one row of a superblock; `from` empty: no payload.
struct RowWrite {
    Lpn first{0};
    std::uint32_t pages = 0;
    std::span<const std::byte> from{};
    PageKind kind = PageKind::data;
    std::uint32_t frontier = 0;
    std::uint32_t before = 0;               ///< pages of the same request that have their place,
    std::uint32_t of = 0;                   ///< of so many: they are spread; 0: rows are filled
    std::optional<std::uint32_t> group{};   ///< none: the least busy one with room
    bool can_wait = false;                  ///< no_free_block is told, and is not the end of the device
};
struct PlacedRow {
    std::uint32_t count = 0;                ///< 0: a program failed, come again
    std::uint32_t row = 0;
    std::span<const OpenColumn> columns{};  ///< of these units; valid until the next call
    SimTime end;
};

class PageBlocks final : public BlockExchange {
public:
    enum class BlockState : std::uint8_t { outside, free, open, data, bad };
    enum class LoadAs : std::uint8_t { erased, garbage, data, open, bad };

    PageBlocks(PageBlocksConfig config, NandArray& array, EventSink& events, PageOwner& owner, std::unique_ptr<VictimPolicy> policy);

    /// Half blocks of a group that are spare by count and hold nothing stale, on average, on a full drive: kept free, or open and not yet written.
    [[nodiscard]] static std::uint32_t half_blocks_held(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units);

    // Requests
    [[nodiscard]] FtlResult<PlacedRow> write_row(const RowWrite& write, SimTime now, Origin origin);
    /// When a page may be written there; may collect. A write_row() to the same place that follows at once collects nothing.
    [[nodiscard]] FtlResult<SimTime> make_room(std::uint32_t group, std::uint32_t frontier, SimTime now) { return room(groups_[group], frontier, now); }
    [[nodiscard]] UnitId unit_of(const PlacedRow& placed, std::uint32_t i) const { return units_.unit_at(placed.columns[i].block, placed.row); }
    /// The new unit of a logical page; invalidate() its old one first.
    void validate(UnitId unit);
    /// `end`: of the program or trim that made it so.
    void invalidate(UnitId unit, SimTime end);
    /// Blocks whose program failed since the last call: what is valid in them moves, then they are marked bad.
    [[nodiscard]] FtlResult<SimTime> retire_failed(SimTime now);
    [[nodiscard]] FtlResult<SimTime> relocate(BlockId block, SimTime now);
    [[nodiscard]] SimTime idle(SimTime now);
    /// The array's error as the host hears of it; a failing image makes the device read-only.
    [[nodiscard]] FtlError fail(const NandError& error, Lpn lpn);

    // Mount and shutdown
    void load_block(BlockId block, LoadAs as, std::uint32_t frontier);
    void resume(std::uint32_t group, std::uint32_t frontier, std::span<const OpenColumn> columns, std::uint32_t next, std::uint32_t stamp);
    /// After the last load_block(); nothing is programmed before `ready`.
    void finish_loading(SimTime ready);
    /// Jobs are given up, closing superblocks closed. What is open stays as it is.
    void settle_down(SimTime now);
    void set_next(std::uint64_t sequence, std::uint32_t stamp);

    // For a ring that moves
    [[nodiscard]] std::optional<Lent> offer(PlaneId plane) override;
    void lend(BlockId offered) override;
    void give(BlockId block, SimTime ready) override;
    [[nodiscard]] std::uint32_t wear_threshold() const { return config_.wear_threshold; }

    // What there is
    [[nodiscard]] const UnitGeometry& units() const { return units_; }
    [[nodiscard]] const ValidMap& valid() const { return valid_; }
    [[nodiscard]] ValidMap& valid_to_load() { return valid_; }
    [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(groups_.size()); }
    [[nodiscard]] std::uint32_t frontiers() const { return static_cast<std::uint32_t>(config_.frontiers.size()); }
    [[nodiscard]] const OpenSuperblock& open(std::uint32_t group, std::uint32_t frontier = 0) const { return groups_[group].frontiers[frontier].open; }
    [[nodiscard]] const OpenSuperblock& closing(std::uint32_t group, std::uint32_t frontier = 0) const { return groups_[group].frontiers[frontier].closing; }
    [[nodiscard]] std::uint32_t group_of(BlockId block) const;
    [[nodiscard]] BlockState state(BlockId block) const { return state_[block.value()]; }
    [[nodiscard]] std::uint32_t frontier_of(BlockId block) const { return frontier_of_[block.value()]; }
    [[nodiscard]] const FreeBlocks& free_blocks() const { return free_; }
    [[nodiscard]] std::uint32_t blocks_in_use() const; ///< all blocks of the groups, bad and outside ones too
    /// Planes of the groups.
    [[nodiscard]] std::uint32_t planes_in_use() const { return groups() * units_.geometry().planes_per_die(); }
    /// End of what made its units invalid; of its erase while it is free.
    [[nodiscard]] SimTime settled_at(BlockId block) const { return settled_at_[block.value()]; }
    /// All programs of the superblock, and of what replaced its units, end by then.
    [[nodiscard]] SimTime close_ready(const OpenSuperblock& set) const;
    /// Every program of this block ends by then, for blocks programmed since the mount.
    [[nodiscard]] SimTime programmed_by(BlockId block) const;
    [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
    [[nodiscard]] WriteSequence take_sequence() { return WriteSequence{next_sequence_++}; }
    [[nodiscard]] std::uint32_t next_stamp() const { return next_stamp_; }
    [[nodiscard]] std::uint64_t open_room() const;
    [[nodiscard]] bool is_read_only() const { return read_only_; }
    void set_read_only() { read_only_ = true; }
    /// Read-only because the host's image failed, not because the flash is worn out: nothing at all is written any more.
    [[nodiscard]] bool has_failed_image() const { return image_failed_; }
    [[nodiscard]] bool has_failed_blocks() const { return !failed_.empty(); }
    [[nodiscard]] FtlSpace space() const;
    /// `map_units`: written besides the logical ones.
    [[nodiscard]] WriteMemory write_memory(std::uint64_t map_units = 0) const;
    [[nodiscard]] BlockStatus status_of(BlockId block, BlockUse data_use) const;
    void count_into(FtlCounters& counters) const;
    /// B1, B2.
    void check(std::vector<CheckProblem>& out) const;

private:
    /// One collection; survives between slices.
    struct Job {
        std::optional<BlockId> victim;
        bool retire = false;             ///< mark bad instead of erasing
        std::uint32_t next = 0;          ///< unit to look at
        SimTime start = sim_start;
        SimTime last_end = sim_start;    ///< of its copies
        SimTime next_slice = sim_start;
        std::uint32_t copied = 0;
        EventId id = no_event;
        Cause cause = Cause::gc;
    };
    enum class JobEnd : std::uint8_t { finished, paused, no_room, unreadable };
    struct Units {
        std::uint64_t good = 0;
        std::uint64_t valid = 0;
        [[nodiscard]] std::uint64_t room() const { return good - valid; }
    };
    struct Frontier {
        OpenSuperblock open;
        OpenSuperblock closing;
    };
    struct Group {
        DieId die{0};
        std::vector<Frontier> frontiers;
        Job job;
        Job inner;                       ///< makes room for a frontier but the first, also while `job` is under way
        Units units;
        std::uint64_t erases = 0;        ///< of its good blocks, over the device's life
        [[nodiscard]] std::uint64_t room() const { return units.room(); }
    };

    // page_blocks.cpp: requests
    struct Chosen {
        std::uint32_t group = 0;
        bool is_idle = true;
    };
    [[nodiscard]] Chosen choose_group(SimTime now);
    [[nodiscard]] std::uint32_t row_width(const RowWrite& write, bool is_idle) const;
    [[nodiscard]] std::uint64_t spare_units() const;
    [[nodiscard]] std::uint32_t free_in(const Group& group) const { return free_.count_in(group.die); }
    /// So many more, of the group and of all.
    void count(Group& group, std::int64_t good, std::int64_t valid);
    void lose_block(BlockId block);
    [[nodiscard]] std::expected<SimTime, NandError> program(const OpenSuperblock& set, const RowWrite& write, std::uint32_t count, SimTime ready, Origin origin);

    // page_blocks_open.cpp
    [[nodiscard]] FtlResult<SimTime> room(Group& group, std::uint32_t frontier, SimTime now);
    [[nodiscard]] FtlResult<bool> collect_for_host(Group& group, SimTime now);
    [[nodiscard]] FtlResult<void> keep_pace(Group& group, std::uint32_t pages, SimTime now);
    [[nodiscard]] FtlResult<bool> compact(Group& group, SimTime now);
    [[nodiscard]] bool open_superblock(Group& group, std::uint32_t frontier, SimTime now, std::uint32_t keep_free, SimTime& failed_at);
    [[nodiscard]] SimTime forgotten_by(const Group& group, std::uint32_t blocks, SimTime now) const;
    [[nodiscard]] std::optional<SimTime> take_erased(const FreeBlock& taken, SimTime now, SimTime& failed_at);
    void retire_open(Group& group, std::uint32_t frontier);
    void close(Group& group, OpenSuperblock& set, SimTime now);
    void close_due(Group& group, SimTime now);
    [[nodiscard]] bool close_holder(Group& group, BlockId block, SimTime now);

    // page_blocks_gc.cpp
    [[nodiscard]] std::optional<BlockId> choose_victim(const Group& group, std::uint32_t first_frontier) const;
    void start_job(Job& job, BlockId victim, bool retire, SimTime now);
    /// How far a job is run in one go.
    struct Slice {
        SimTime until = sim_never;                ///< or somewhat beyond: this has been reserved
        std::uint32_t copies = ~std::uint32_t{0}; ///< at most
    };
    [[nodiscard]] FtlResult<JobEnd> run_job(Group& group, Job& job, SimTime now, Slice slice, std::uint32_t keep_free);
    void look_ahead(BlockId victim, std::uint32_t from) const;
    [[nodiscard]] FtlResult<JobEnd> copy_unit(Group& group, Job& job, UnitId from, SimTime now, std::uint32_t keep_free);
    [[nodiscard]] FtlResult<SimTime> finish_job(Group& group, Job& job, SimTime now);
    [[nodiscard]] FtlResult<SimTime> give_back(Job& job, SimTime forgotten);
    void drop_job(Job& job);
    void tell(const Job& job, SimTime end);
    [[nodiscard]] FtlResult<SimTime> collect_now(Group& group, BlockId victim, bool retire, SimTime now);
    SimTime idle_group(Group& group, SimTime now);
    /// Blocks left in the group when the host opens a superblock, or a frontier's own pages do. With spare enough a row of planes and the block that copies keep: else the copies of
    /// the next collection open a superblock of fewer columns than the die has planes, the host's writes fill it, and so on for ever.
    [[nodiscard]] std::uint32_t writes_keep_free(std::uint32_t frontier) const { return keep_free(config_, units_, spare_units(), frontier); }
    [[nodiscard]] static std::uint32_t keep_free(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units, std::uint32_t frontier);
    /// Collections keep pace with the host: there is enough spare to have so many blocks free.
    [[nodiscard]] static bool is_paced(const PageBlocksConfig& config, const UnitGeometry& units, std::uint64_t spare_units, std::uint32_t blocks);
    [[nodiscard]] std::uint32_t copies_keep_free(BlockId victim) const { return config_.frontiers[frontier_of_[victim.value()]].copies_keep_free; }
    [[nodiscard]] FullBlocks& full_of(BlockId block) { return full_[frontier_of_[block.value()]]; }
    /// Joins the candidates; how long it rests is settled now.
    void list_full(BlockId block);
    [[nodiscard]] std::uint32_t listed_under(BlockId block) const;
    void count_erase(BlockId block, const std::expected<SimTime, NandError>& erased) {
        if (erased || erased.error().kind != NandErrorKind::host_io) ++groups_[group_of(block)].erases;
    }

    PageBlocksConfig config_;
    NandArray& array_;
    EventSink& events_;
    PageOwner& owner_;
    UnitGeometry units_;
    std::unique_ptr<VictimPolicy> policy_;
    ValidMap valid_;
    std::vector<FullBlocks> full_;           ///< by frontier
    FreeBlocks free_;
    std::vector<Group> groups_;
    Units all_;                              ///< of all groups
    std::vector<BlockState> state_;
    std::vector<std::uint8_t> frontier_of_;
    std::vector<SimTime> settled_at_;
    std::vector<SimTime> closed_by_;         ///< end of the last program, once closed
    std::vector<SimTime> forgotten_at_;      ///< of a free block: nothing durable names it from then on
    std::vector<std::uint32_t> rest_;        ///< B6: units added
    std::vector<std::uint8_t> pinned_;       ///< data blocks with a page that cannot be read: kept until nothing in them is valid
    std::vector<BlockId> failed_;            ///< a program failed: to be retired
    std::uint64_t next_sequence_ = 1;
    std::uint32_t next_stamp_ = 1;
    std::vector<DieId> turns_;               ///< the groups in the order of the allocation
    std::uint32_t next_turn_ = 0;
    std::uint32_t spread_over_;              ///< dies that have a page of a request before any has two
    std::uint32_t bad_blocks_ = 0;
    std::uint64_t gc_jobs_ = 0;
    std::uint64_t gc_page_copies_ = 0;
    std::uint64_t retired_blocks_ = 0;
    std::uint32_t jobs_under_way_ = 0;       ///< on the call stack: nothing is retired meanwhile
    Cause collecting_as_ = Cause::gc; ///< wear within relocate()
    bool read_only_ = false;
    bool image_failed_ = false;
    std::vector<PageProgram> programs_;
};

} // namespace flashlab
