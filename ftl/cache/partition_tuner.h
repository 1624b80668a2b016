/// How much of the DRAM the maps get: the decision alone.
///
/// Idea       At each interval the benefit of a ghost is its profit (hits x what a hit would have saved) over the bytes that it stands for. The side
///            of the richer ghost grows by the tune unit x the ratio of the two. A ghost without a hit would make the ratio infinite: it counts part
///            of a hit (dearer of its two kinds), over the whole DRAM. No step is larger than what the richer ghost stands for: beyond that nothing
///            says that it pays.
/// Invariant  T1 least <= map_bytes() <= most. T2 two ghosts without a hit change nothing.
/// Cost       A handful of multiplications a decision.
/// Power cut  Lost: a partition begins anew.
/// Source     Shim et al., algorithm 1; AP3. Both clamps are ours: the paper says nothing of zero, or of a ghost of one entry with one hit.
#pragma once

#include <cstdint>

#include "ftl/cache/ghost_buffer.h"
#include "ftl/cache/mapping_space.h"

namespace flashlab {

struct PartitionLimits {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t tune_bytes = 1; ///< for a ratio of one
    double ghost_floor = 0.5;     ///< hits of a ghost that has none
};

struct GhostState {
    struct Hits {
        double reads = 0, writes = 0;
    } hits;                       ///< of an interval
    std::uint64_t bytes = 0;      ///< that it stands for now
    std::uint64_t most_bytes = 0; ///< the whole DRAM
};

class PartitionTuner {
public:
    struct Decision {
        double buffer_benefit = 0; ///< ns a byte
        double map_benefit = 0;
        std::uint64_t map_bytes = 0;
    };

    PartitionTuner(const PartitionLimits& limits, std::uint64_t map_bytes);
    [[nodiscard]] std::uint64_t map_bytes() const { return map_bytes_; }
    Decision decide(const GhostState& buffer, const GhostState& map, const ProfitFactors& factors);

private:
    [[nodiscard]] double benefit(const GhostState& ghost, double of_read, double of_write) const;
    [[nodiscard]] double step(double lesser, double greater, const GhostState& richer) const;

    PartitionLimits limits_;
    std::uint64_t map_bytes_;
};

} // namespace flashlab
