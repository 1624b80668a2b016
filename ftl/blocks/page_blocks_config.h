/// What a page-mapping scheme asks of its blocks, and what each frontier leaves free: pure functions, which mkfs asks, too.
///
/// Idea       A frontier is what superblocks are opened for: host data, in one stream or several; where a scheme asks for it, translation pages. Each
///            opens one only while it leaves so many free blocks that the others can go on; with spare enough the host leaves a whole row of planes.
/// Invariant  mkfs, mount and tests get the same answer from the same configuration.
/// Cost       Arithmetic.
/// Power cut  Keeps nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sim_time.h"
#include "ftl/blocks/allocation.h"
#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

/// How a frontier takes free blocks: each rule leaves enough to those that must go on when it cannot.
struct FrontierRule {
    std::uint32_t writes_keep_free = 2; ///< blocks left in the group when a superblock is opened for new pages
    std::uint32_t copies_keep_free = 0; ///< the same for a collection's copies
    std::uint32_t columns = 0;          ///< at most so many planes; 0 = all of the die
};

/// An SLC cache: blocks in a mode of fewer bits. The static part is a region, the last blocks of each plane; the dynamic part borrows blocks of the
/// main region while it has more free ones than collections keep. Each part has a frontier, the kinds behind the scheme's own. The pages of the host
/// go to the cache while it has room; copies out of it go where those of data go, and are called folding.
struct CacheRegion {
    std::uint32_t blocks_a_plane = 0;         ///< 0: no static part, and all blocks are of one region
    std::uint32_t dynamic_blocks_a_group = 0; ///< that may be borrowed at a time; 0: no dynamic part
    CellType mode = CellType::slc;
    std::uint32_t units_a_block = 0;
    Duration fold_after{0};    ///< what the host last asked for: reads would wait for copies, and what it overwrites soon is not worth folding
    bool folds_at_rest = true; ///< false: at rest only while the cache has no room
    Duration fold_page{0};     ///< the controller's work for a unit that is folded, one after the other on each channel
};

struct PageBlocksConfig {
    static constexpr std::uint32_t most_frontiers = 256; ///< a block has a byte for its frontier
    std::uint32_t groups = 1;                            ///< dies used: the first ones
    Allocation allocation{};                             ///< in which order rows take the groups
    std::uint32_t pages_per_unit = 1;
    std::uint32_t valid_units_at_most = 0;  ///< logical pages, translation pages included
    std::uint32_t spare_blocks_a_group = 3; ///< B4
    std::uint32_t gc_slice_us = 2000;
    std::uint32_t wear_threshold = 0;                    ///< not 0: free blocks are taken by their erase counts, and worn ones rest (B6)
    std::vector<FrontierRule> frontiers{FrontierRule{}}; ///< by kind: 0 host data, then the scheme's own pages
    std::uint32_t streams = 1;                           ///< of host data, each with a frontier of its own: ftl.separation
    std::uint32_t own_streams = 0;                       ///< of them, the last ones: the scheme's own division
    std::uint32_t seldom_open = 0;                       ///< of these, so many have no superblock open in a group while the others have
    std::uint32_t paced_from_spare = 2;                  ///< collections keep pace with the host where the spare is so many times what they keep free
    bool closes_at_once = false;                         ///< a full superblock is data right away: nothing durable waits for it
    CacheRegion cache{};
    bool stamps_pages = false; ///< the OOB's word is the superblock's number, so that recovery knows blocks of this life

    [[nodiscard]] bool has_static_cache() const { return cache.blocks_a_plane != 0; }
    [[nodiscard]] bool has_dynamic_cache() const { return cache.dynamic_blocks_a_group != 0; }
    [[nodiscard]] bool has_cache() const { return cache.units_a_block != 0; }
    void set_cache(const CacheRegion& region) {
        if (region.blocks_a_plane + region.dynamic_blocks_a_group == 0) return;
        cache = region;
        if (has_dynamic_cache()) frontiers.emplace_back();
        if (has_static_cache()) frontiers.push_back({.writes_keep_free = 0}); // it takes no blocks that others need
    }
    /// Frontiers are numbered: the first stream of data, the scheme's other kinds, the cache's parts, the further streams of data.
    [[nodiscard]] std::uint32_t kinds() const { return static_cast<std::uint32_t>(frontiers.size()); }
    [[nodiscard]] std::uint32_t own_kinds() const { return kinds() - (has_static_cache() ? 1 : 0) - (has_dynamic_cache() ? 1 : 0); }
    /// Kinds whose blocks are of the main region: the scheme's own, and what is lent.
    [[nodiscard]] std::uint32_t main_kinds() const { return kinds() - (has_static_cache() ? 1 : 0); }
    [[nodiscard]] FrontierId dynamic_frontier() const { return FrontierId{own_kinds()}; }
    /// Of the static part.
    [[nodiscard]] FrontierId cache_frontier() const { return FrontierId{kinds() - 1}; }
    [[nodiscard]] bool is_of_cache(FrontierId frontier) const { return has_cache() && frontier.value() >= own_kinds() && frontier.value() < kinds(); }
    [[nodiscard]] bool is_dynamic(FrontierId frontier) const { return has_dynamic_cache() && frontier == dynamic_frontier(); }
    /// Where copies out of blocks of that kind go.
    [[nodiscard]] std::uint32_t copies_to(std::uint32_t kind) const { return kind < own_kinds() ? kind : 0; }
    [[nodiscard]] std::uint32_t frontier_count() const { return kinds() + streams - 1; }
    [[nodiscard]] std::uint32_t kind_of(FrontierId frontier) const { return frontier.value() < kinds() ? frontier.value() : 0; }
    [[nodiscard]] FrontierId frontier_of_stream(StreamId stream) const { return FrontierId{stream == no_stream ? 0 : kinds() + stream.value() - 1}; }
    /// Of the scheme's own streams, counted from 0.
    [[nodiscard]] FrontierId own_frontier(std::uint32_t stream) const { return FrontierId{frontier_count() - own_streams + stream}; }
    /// Streams with a superblock open in a group at a time.
    [[nodiscard]] std::uint32_t open_streams() const { return streams - seldom_open; }
    [[nodiscard]] StreamId stream_of(FrontierId frontier) const {
        return StreamId{static_cast<std::uint16_t>(frontier.value() < kinds() ? 0 : frontier.value() - kinds() + 1)};
    }
    [[nodiscard]] const FrontierRule& rule_of(FrontierId frontier) const { return frontiers[kind_of(frontier)]; }

    /// Blocks left in the group when the host opens a superblock, or a frontier's own pages do. With spare enough a row of planes and the block that
    /// copies keep: else the copies of the next collection open a superblock of fewer columns than the die has planes, the host's writes fill it, and
    /// so on for ever.
    [[nodiscard]] std::uint32_t keep_free(const UnitGeometry& units, std::uint64_t spare_units, FrontierId frontier) const;
    /// Collections keep pace with the host: there is enough spare to have a row of planes free beside what the host leaves.
    [[nodiscard]] bool is_paced(const UnitGeometry& units, std::uint64_t spare_units) const;
    /// Half blocks of a group that are spare by count and hold nothing stale, on average, on a full drive: kept free, or open and not yet written.
    [[nodiscard]] std::uint32_t half_blocks_held(const UnitGeometry& units, std::uint64_t spare_units) const;
};

} // namespace flashlab
