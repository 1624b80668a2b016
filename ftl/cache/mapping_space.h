/// A scheme's maps in DRAM, as the partition of the DRAM sees them: how large they may be, what they are now, what a miss costs.
///
/// Idea       A scheme with a mapping cache joins the partition by this interface: the tables that always lie there, the unit by which the rest grows
///            and shrinks, and the profit factors of its ghosts. It tells the ghost mapping cache of what it evicts and misses directly, without a
///            virtual call.
/// Invariant  After set_map_bytes(b) the maps take at most b bytes, as far as the flash lets them shrink. Growing never fails.
/// Cost       Called once an interval.
/// Power cut  Keeps nothing.
/// Source     Shim et al., sections III B to III E (AP3 to AP6).
#pragma once

#include <cstdint>

#include <span>

#include "ftl/cache/reuse_curve.h"
#include "ftl/ftl.h"

namespace flashlab {

class GhostBitmap;

struct MappingSpaceShape {
    std::uint64_t fixed_bytes = 0;             ///< directory, block map: always in DRAM, charged to the maps
    std::uint64_t least_bytes = 0;             ///< with less, fixed bytes included, the scheme does not work
    std::uint64_t most_bytes = 0;              ///< more is of no use
    std::uint32_t unit_bytes = 1;              ///< tune unit: a cached entry, a log block's map, a page table
    std::uint32_t entries_per_unit = 1;        ///< what the ghost counts
    std::uint32_t interval = 1000;             ///< requests between two decisions
    std::uint32_t ghost_reach_permille = 1000; ///< of the DRAM, what a ghost stands for at most
};

/// Nanoseconds that a hit in a ghost would have saved, and that a miss costs.
struct ProfitFactors {
    double buffer_read = 0, buffer_write = 0;
    double map_read = 0, map_write = 0;
};

class MappingSpace {
public:
    virtual ~MappingSpace() = default;
    [[nodiscard]] virtual MappingSpaceShape map_shape() const = 0;
    [[nodiscard]] virtual std::uint64_t map_bytes_used() const = 0;
    /// What is too much is written and given up.
    [[nodiscard]] virtual FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) = 0;
    /// From the running averages of what happened; misses count since the last call.
    [[nodiscard]] virtual ProfitFactors profit_factors() = 0;
    /// From now on `ghost`, which outlives the requests, hears of evictions and misses.
    virtual void watch(GhostBitmap& ghost) = 0;
    /// From now on its misses are counted for each of these sizes, rising, fixed tables included. Records of so many bytes are kept for that.
    virtual void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) = 0;
    /// Since the last call, added to `counts`: one for each size. In operations of the profits map_read and map_write.
    /// They are of a sample: how many one of it stands for.
    virtual double take_misses(std::span<MissCount> counts) = 0;
};

} // namespace flashlab
