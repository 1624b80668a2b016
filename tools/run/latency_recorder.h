/// Latencies of a run, exact count, mean and maximum, percentiles from log-linear buckets.
///
/// Idea       128 buckets a power of two: the rule of HDR histograms; the relative error of a percentile is below 1/128.
/// Invariant  Percentiles never exceed the maximum; the same values in any order give the same answers.
/// Cost       A bit scan and an increment a value; 60 KiB.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/sim_time.h"
#include "tools/text/json.h"

namespace flashlab {

class LatencyRecorder {
public:
    void add(Duration latency) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, latency.count()));
        ++buckets_[bucket_of(ns)];
        ++count_;
        sum_ns_ += ns;
        max_ns_ = std::max(max_ns_, ns);
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// Upper edge of the bucket that holds the smallest value which at least so many of a thousand values do not exceed.
    [[nodiscard]] std::uint64_t permille_ns(std::uint32_t permille) const;
    /// mean, p50, p95, p99, p999, max in microseconds.
    [[nodiscard]] Json to_json() const;

private:
    static constexpr std::uint64_t sub_buckets = 128;
    static std::size_t bucket_of(std::uint64_t ns) {
        if (ns < sub_buckets)
            return ns;
        const auto shift = static_cast<std::uint64_t>(std::bit_width(ns)) - 8;
        return sub_buckets * (shift + 1) + ((ns >> shift) - sub_buckets);
    }
    static std::uint64_t upper_edge(std::size_t bucket) {
        if (bucket < sub_buckets)
            return bucket;
        const std::uint64_t shift = bucket / sub_buckets - 1;
        return ((bucket % sub_buckets + sub_buckets + 1) << shift) - 1;
    }
    std::vector<std::uint64_t> buckets_ = std::vector<std::uint64_t>(sub_buckets * 58);
    std::uint64_t count_ = 0, sum_ns_ = 0, max_ns_ = 0;
};

} // namespace flashlab
