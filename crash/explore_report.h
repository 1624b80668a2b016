/// What an exploration counted and found.
///
/// Idea       Plain numbers that add up over workloads; the command prints them.
/// Invariant  states counts cuts that were judged, each with its own outcomes. Equal cells under equal promises recover equally and are judged once:
///            such a cut counts as a state, and not as a distinct one.
/// Cost       A few kilobytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log_linear_histogram.h"
#include "base/sim_time.h"
#include "crash/crash_case.h"
#include "crash/judges.h"
#include "crash/scripted_outcomes.h"

namespace flashlab {

/// Durations with 16 steps in each power of two: percentiles within 6 %, the longest exactly.
class DurationHistogram {
public:
    void add(Duration d) { ns_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0))); }
    [[nodiscard]] Duration longest() const { return in_time(ns_.max()); }
    /// The shortest duration that is longer than this part of all durations, or the longest one.
    [[nodiscard]] Duration percentile(double part) const {
        return in_time(ns_.at_rank(static_cast<std::uint64_t>(part * static_cast<double>(ns_.count())) + 1));
    }

private:
    static Duration in_time(std::uint64_t ns) { return Duration{static_cast<std::int64_t>(ns)}; }
    LogLinearHistogram<4> ns_;
};

struct Violation {
    CrashCase where;
    std::string what;
    Judge judge = Judge::recovery;
};

struct ExploreReport {
    std::uint64_t states = 0;
    std::uint64_t distinct_states = 0; ///< of these: cells that this exploration of this device had not met before
    std::uint64_t second_cuts = 0;     ///< of these: the power failed again during recovery
    std::uint64_t workloads = 0;
    std::uint64_t thinned_moments = 0; ///< too many operations in flight to try all combinations: each outcome of each was tried, the others drawn
    OutcomeCounts outcomes;
    DurationHistogram recovery; ///< simulated time of each
    std::vector<Violation> violations;
};

} // namespace flashlab
