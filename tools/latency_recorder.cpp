#include "tools/latency_recorder.h"

#include <cmath>

namespace flashlab {

std::uint64_t LatencyRecorder::percentile_ns(double percent) const {
    if (count_ == 0)
        return 0;
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(percent / 100.0 * static_cast<double>(count_))));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        seen += buckets_[bucket];
        if (seen >= rank)
            return std::min(max_ns_, upper_edge(bucket));
    }
    return max_ns_;
}

Json LatencyRecorder::to_json() const {
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
    const double mean = count_ == 0 ? 0.0 : std::round(static_cast<double>(sum_ns_) / static_cast<double>(count_)) / 1e3;
    return Json::object({{"mean", mean},
                         {"p50", us(percentile_ns(50))},
                         {"p95", us(percentile_ns(95))},
                         {"p99", us(percentile_ns(99))},
                         {"p999", us(percentile_ns(99.9))},
                         {"max", us(max_ns_)}});
}

} // namespace flashlab
