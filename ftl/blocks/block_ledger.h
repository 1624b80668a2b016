/// The blocks of a page-mapping scheme and what is counted of them: in which set each is, which of its units are valid, when it may be touched.
///
/// Idea       A group is a die. Every good block is free, open, data or not the scheme's own; data blocks without a reader or a collection are
///            candidates, listed by valid units. Nothing here programs, copies or erases: whoever did says so.
/// Invariant  B1 a unit's valid bit is set iff it is the newest version of something; counts, lists and groups agree with the bits.
///            B2 every good block is in exactly one set: free, open or closing, collectable, being collected, pinned; state() agrees.
///            B4 units that are not valid come to at least `spare_blocks_a_group` blocks a group, else the device is read-only: no write can deadlock
///               (ftl/DESIGN-pages.md, "Reserve").
///            B6 when wear is levelled, a full block that is worn more than its group's mean stands among the candidates as if it held more valid
///            units than
///               it does, at most a quarter of a block more, never as if it held nothing to gain: it is collected later, and rests.
///            B7 a block is open, data or free in its own region only; once it holds data it is in the mode of the frontier for which it was opened,
///            and nothing is valid beyond the units that it has there. A group lends the dynamic cache no more blocks than it may.
/// Cost       RAM: 1 bit a unit, about 70 bytes a block. No allocation in steady state.
/// Power cut  RAM only. After a mount the scheme says what each block is (load).
#pragma once

#include <vector>

#include "ftl/blocks/block_exchange.h"
#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/full_blocks.h"
#include "ftl/blocks/page_blocks_config.h"
#include "ftl/blocks/valid_map.h"
#include "ftl/ftl.h"
#include "ftl/placement_handles.h"
#include "nand/nand_array.h"

namespace flashlab {

class BlockLedger final : public BlockExchange {
public:
    enum class State : std::uint8_t { outside, free, open, data, bad };
    enum class LoadAs : std::uint8_t { erased, garbage, data, open, bad };

    /// `config` lives as long as the ledger.
    BlockLedger(const PageBlocksConfig& config, NandArray& array);

    // Units
    void validate(UnitId unit);
    /// `end`: of the program or trim that made it so.
    void invalidate(UnitId unit, SimTime end);

    // Blocks
    void load(BlockId block, LoadAs as, FrontierId frontier);
    /// The next free block of the plane leaves the free ones; when wear is levelled the least worn of those at hand.
    /// Of those at hand one that was erased in this mode is preferred.
    [[nodiscard]] FreeBlock take_free(PlaneId plane, CellType mode);
    [[nodiscard]] FreeBlock take_free_of_cache(PlaneId plane) { return *cache_free_->take(plane); }
    void take_back_garbage(BlockId block) { free_of(block).add_garbage(block); }
    void set_open(BlockId block, FrontierId frontier);
    /// A block that was open is data; its last program ends at `end`.
    void set_data(BlockId block, SimTime end);
    /// Joins the candidates; how long it rests is settled now.
    void list_full(BlockId block);
    /// The same for a victim whose collection was given up: its turn comes first again.
    void relist(BlockId block);
    /// No candidate while it is collected.
    void unlist(BlockId block);
    /// Has a page that cannot be read: kept until nothing in it is valid.
    void pin(BlockId block) { pinned_[block.value()] = 1; }
    [[nodiscard]] bool is_pinned(BlockId block) const { return pinned_[block.value()] != 0; }
    /// Nothing durable names it from `forgotten` on; `erased` says when the erase ended, or that it could not be done.
    void set_free(BlockId block, SimTime forgotten, const std::expected<SimTime, NandError>& erased);
    /// Bad: its units are no longer there.
    void lose(BlockId block);
    void count_erase(BlockId block, const std::expected<SimTime, NandError>& erased) {
        if (is_cache(block)) return; // wears at a rate of its own
        if (erased || erased.error().kind != NandErrorKind::host_io) ++groups_[group_of(block).value()].erases;
    }

    // For a host that places its data
    void note_placement(const PlacementEvent& event) { placement_.add(event); }
    [[nodiscard]] std::vector<PlacementEvent> placement_events() const { return placement_.all(); }

    // For a ring that moves
    [[nodiscard]] std::optional<Lent> offer(PlaneId plane) override;
    void lend(BlockId offered) override;
    void give(BlockId block, SimTime ready) override;

    // The device's end
    /// The array's error as the host hears of it; a failing image makes the device read-only.
    [[nodiscard]] FtlError fail(const NandError& error, Lpn lpn);
    [[nodiscard]] bool is_read_only() const { return read_only_; }
    void set_read_only() { read_only_ = true; }
    /// Read-only because the host's image failed, not because the flash is worn out: nothing at all is written any more.
    [[nodiscard]] bool has_failed_image() const { return image_failed_; }
    /// B4: too few good blocks make the device read-only.
    void check_reserve();

    // What there is
    [[nodiscard]] const UnitGeometry& units() const { return units_; }
    [[nodiscard]] const ValidMap& valid() const { return valid_; }
    [[nodiscard]] ValidMap& valid_to_load() { return valid_; }
    /// Of the main region, as everything that is counted of free blocks.
    [[nodiscard]] const FreeBlocks& free() const { return free_; }
    [[nodiscard]] const FreeBlocks& free_of_cache() const { return *cache_free_; }
    /// The block is of the cache region, the static part of the cache.
    [[nodiscard]] bool is_cache(BlockId block) const {
        const Geometry& g = units_.geometry();
        return config_.has_cache() && block.value() - g.block_at(g.plane_of(block), 0).value() >= g.blocks_per_plane() - config_.cache.blocks_a_plane;
    }
    /// The block is lent to the dynamic part of the cache, from its opening until it is free again.
    [[nodiscard]] bool is_lent(BlockId block) const { return config_.is_dynamic(frontier_of(block)); }
    /// Of the group's blocks.
    [[nodiscard]] std::uint32_t lent_in(GroupId group) const { return groups_[group.value()].lent; }
    [[nodiscard]] std::uint32_t lent() const { return lent_; }
    [[nodiscard]] std::uint32_t units_for(FrontierId frontier) const {
        return config_.is_of_cache(frontier) ? config_.cache.units_a_block : units_.units_per_block();
    }
    [[nodiscard]] std::uint32_t units_in(BlockId block) const { return units_for(frontier_of(block)); }
    [[nodiscard]] CellType mode_for(FrontierId frontier) const { return config_.is_of_cache(frontier) ? config_.cache.mode : array_.media().own(); }
    /// That of what it holds.
    [[nodiscard]] CellType mode_for(BlockId block) const { return mode_for(frontier_of(block)); }
    /// Candidates of a kind of frontier.
    [[nodiscard]] const FullBlocks& full(std::uint32_t kind) const { return full_[kind]; }
    [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(groups_.size()); }
    [[nodiscard]] DieId die_of(GroupId group) const { return DieId{group.value()}; }
    [[nodiscard]] GroupId group_of(BlockId block) const {
        const Geometry& g = units_.geometry();
        return GroupId{g.die_of(g.plane_of(block)).value()};
    }
    [[nodiscard]] std::uint32_t free_in(GroupId group) const { return free_.count_in(die_of(group)); }
    /// Units of the group, or of all, that are not valid.
    [[nodiscard]] std::uint64_t room_in(GroupId group) const { return groups_[group.value()].units.room(); }
    [[nodiscard]] std::uint64_t room() const { return all_.room(); }
    [[nodiscard]] std::uint64_t spare_units() const;
    [[nodiscard]] State state(BlockId block) const { return state_[block.value()]; }
    /// Which frontier it was opened for; which kind that is.
    [[nodiscard]] FrontierId frontier_of(BlockId block) const { return FrontierId{frontier_of_[block.value()]}; }
    [[nodiscard]] std::uint32_t kind_of(BlockId block) const { return frontier_of_[block.value()] < kinds_ ? frontier_of_[block.value()] : 0; }
    /// End of what made its units invalid; of its erase while it is free.
    [[nodiscard]] SimTime settled_at(BlockId block) const { return settled_at_[block.value()]; }
    /// End of its last program, once closed.
    [[nodiscard]] SimTime closed_by(BlockId block) const { return closed_by_[block.value()]; }
    /// Of a free block: nothing durable names it from then on.
    [[nodiscard]] SimTime forgotten_at(BlockId block) const { return forgotten_at_[block.value()]; }
    /// All blocks of the groups, bad and outside ones too.
    [[nodiscard]] std::uint32_t blocks_in_use() const { return planes_in_use() * units_.geometry().blocks_per_plane(); }
    [[nodiscard]] std::uint32_t planes_in_use() const { return groups() * units_.geometry().planes_per_die(); }
    [[nodiscard]] FtlSpace space() const;
    [[nodiscard]] BlockStatus status_of(BlockId block, BlockUse data_use) const;
    [[nodiscard]] std::uint64_t retired_blocks() const { return retired_blocks_; }
    /// B1 and B2; open and closing blocks, and victims, are those that others hold.
    void check(std::span<const BlockId> open, std::span<const BlockId> victims, std::vector<CheckProblem>& out) const;

private:
    struct Units {
        std::uint64_t good = 0;
        std::uint64_t valid = 0;
        [[nodiscard]] std::uint64_t room() const { return good - valid; }
    };
    struct Group {
        Units units;
        std::uint64_t erases = 0; ///< of its good blocks, over the device's life
        std::uint32_t lent = 0;
    };
    enum class Set : std::uint8_t { none, free, open, collectable, victim, pinned };
    /// So many more, of the group and of all.
    void count(Group& group, std::int64_t good, std::int64_t valid);
    [[nodiscard]] FullBlocks& full_of(BlockId block) { return full_[kind_of(block)]; }
    [[nodiscard]] FreeBlocks& free_of(BlockId block) { return is_cache(block) ? *cache_free_ : free_; }
    /// Units that B4 counts: a page in the cache region has its place in the main one, too.
    [[nodiscard]] std::uint32_t good_units(BlockId block) const { return is_cache(block) ? 0 : units_.units_per_block(); }
    [[nodiscard]] std::uint32_t listed_under(BlockId block) const;
    void weigh_wear(BlockId block);
    void check_block(BlockId block, std::span<Set> sets, std::vector<CheckProblem>& out) const;
    void check_mode(BlockId block, std::vector<CheckProblem>& out) const;
    void lend_to_cache(BlockId block);
    /// A free block, or a bad one, is lent to nobody.
    void take_back_lent(BlockId block);
    void check_counts(std::vector<CheckProblem>& out) const;

    const PageBlocksConfig& config_;
    const std::uint32_t kinds_;       ///< of the configuration: each unit that becomes invalid asks
    const std::uint32_t least_stale_; ///< a block with fewer stale units is no candidate: padding (nand.subpages) may take what its copies leave
    NandArray& array_;
    UnitGeometry units_;
    ValidMap valid_;
    std::vector<FullBlocks> full_; ///< by kind of frontier
    FreeBlocks free_;
    std::optional<FreeBlocks> cache_free_; ///< none without a cache region
    std::vector<Group> groups_;
    Units all_; ///< of all groups
    std::vector<State> state_;
    std::vector<std::uint8_t> frontier_of_;
    std::vector<SimTime> settled_at_;
    std::vector<SimTime> closed_by_;
    std::vector<SimTime> forgotten_at_;
    std::vector<std::uint32_t> rest_; ///< B6: units added
    std::vector<std::uint8_t> pinned_;
    PlacementEvents placement_;
    std::uint32_t lent_ = 0; ///< of all groups
    std::uint32_t bad_blocks_ = 0;
    std::uint64_t retired_blocks_ = 0;
    bool read_only_ = false;
    bool image_failed_ = false;
};

} // namespace flashlab
