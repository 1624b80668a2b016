/// Latencies of a run: exact count, mean and maximum, and percentiles from a histogram.
///
/// Idea       The histogram has 128 steps in each power of two, so a percentile is right to 1/128.
/// Invariant  Percentiles never exceed the maximum. The same values in any order give the same answers.
/// Cost       A bit scan and an increment a value; 60 KiB.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/log_linear_histogram.h"
#include "base/sim_time.h"
#include "tools/text/json.h"

namespace flashlab {

class LatencyRecorder {
public:
    void add(Duration latency) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, latency.count()));
        ns_.add(ns);
        sum_ns_ += ns;
    }
    [[nodiscard]] std::uint64_t count() const { return ns_.count(); }
    [[nodiscard]] std::uint64_t permille_ns(std::uint32_t permille) const { return ns_.permille(permille); }
    /// The smallest value that 99,999 of 100,000 do not exceed; of fewer than 100,000 the longest.
    [[nodiscard]] std::uint64_t five_nines_ns() const { return ns_.at_rank(std::max<std::uint64_t>(1, ns_.count() - ns_.count() / 100'000)); }
    [[nodiscard]] std::uint64_t max_ns() const { return ns_.max(); }
    [[nodiscard]] double mean_ns() const { return count() == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count()); }
    /// mean, p50, p95, p99, p999, max in microseconds; null where nothing was recorded.
    [[nodiscard]] Json to_json() const;

private:
    LogLinearHistogram<7> ns_;
    std::uint64_t sum_ns_ = 0;
};

} // namespace flashlab
