/// How much of the DRAM the maps get, by what each share would cost: the decision alone.
///
/// Idea       Both sides say how often they would miss at each of a row of shares. With what a miss costs that is the flash time of each share; the
///            least is where the two marginal utilities meet, or an end. Counts are kept with what is long ago counting less. The share moves towards
///            the least, half of the way at a decision, and only for a gain that is worth it: near the least the curve is flat, and counts are a
///            sample.
/// Invariant  N1 the step is one of the row's. N2 without a gain of min_gain, and of min_errors, the share stays.
/// Cost       A handful of multiplications for each share of the row, a decision.
/// Power cut  Lost: a partition begins anew.
/// Source     Ours; Mattson et al. 1970 for the curves (reuse_curve.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ftl/cache/mapping_space.h"

namespace flashlab {

class CurveTuner {
public:
    struct Rules {
        double kept = 127.0 / 128; ///< of the counts, from one decision to the next
        double min_gain = 0.01;    ///< of the time, that a move must save
        double min_errors = 1;     ///< standard errors of the samples, that it must save
    };
    struct Decision {
        double buffer_benefit = 0; ///< ns a byte that it would save, had it what the move gives or takes
        double map_benefit = 0;
        std::size_t step = 0;
    };

    CurveTuner(std::vector<std::uint64_t> map_bytes, std::size_t step, Rules rules);
    [[nodiscard]] std::size_t step() const { return step_; }
    [[nodiscard]] std::span<const std::uint64_t> map_bytes() const { return map_bytes_; }
    struct Sampled {
        std::span<const MissCount> missed; ///< one for each step
        double each_stands_for = 1;
    };
    /// What the buffer missed where the maps had so much, and what the maps missed.
    Decision decide(const Sampled& buffer, const Sampled& maps, const ProfitFactors& factors);

private:
    std::vector<std::uint64_t> map_bytes_; ///< the row, rising
    std::size_t step_;
    Rules rules_;
    std::vector<MissCount> buffer_, maps_; ///< sums
};

} // namespace flashlab
