/// What an exploration counted and found.
///
/// Idea       Plain numbers that add up over workloads; the command prints them.
/// Invariant  states counts recoveries that were judged, each after its own cut (or cuts).
/// Cost       A few kilobytes.
/// Power cut  Keeps nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "crash/crash_case.h"
#include "crash/scripted_outcomes.h"

namespace flashlab {

/// Durations in buckets of 1/16 of a power of two: percentiles within 6 %, the longest exactly.
class DurationHistogram {
public:
    void add(Duration d) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0));
        ++buckets_[bucket_of(ns)];
        ++count_;
        longest_ = std::max(longest_, d);
    }
    [[nodiscard]] Duration longest() const { return longest_; }
    /// The upper end of the bucket in which that part of all durations ends.
    [[nodiscard]] Duration percentile(double part) const {
        const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            seen += buckets_[b];
            if (seen > wanted) return std::min(Duration{static_cast<std::int64_t>(end_of(b))}, longest_);
        }
        return longest_;
    }

private:
    static constexpr std::size_t per_octave = 16;
    static std::size_t bucket_of(std::uint64_t ns) {
        if (ns < per_octave) return ns;
        const auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 5;
        return (octave + 1) * per_octave + ((ns >> octave) - per_octave);
    }
    static std::uint64_t end_of(std::size_t bucket) {
        if (bucket < per_octave) return bucket;
        const std::size_t octave = bucket / per_octave - 1;
        return ((bucket % per_octave + per_octave + 1) << octave) - 1;
    }
    std::array<std::uint64_t, 62 * per_octave> buckets_{};
    std::uint64_t count_ = 0;
    Duration longest_{0};
};

struct Violation {
    CrashCase where;
    std::string what;
};

struct ExploreReport {
    std::uint64_t states = 0;
    std::uint64_t second_cuts = 0;     ///< of these: the power failed again during recovery
    std::uint64_t workloads = 0;
    std::uint64_t thinned_moments = 0; ///< too many operations in flight to try all combinations: each outcome of each was tried, the others drawn
    OutcomeCounts outcomes;
    DurationHistogram recovery;        ///< simulated time of each
    std::vector<Violation> violations;
};

} // namespace flashlab
