#include "tools/run/latency_recorder.h"

#include <cmath>

namespace flashlab {

std::uint64_t LatencyRecorder::permille_ns(std::uint32_t permille) const {
    if (count_ == 0)
        return 0;
    const std::uint64_t rank = std::max<std::uint64_t>(1, (count_ * permille + 999) / 1000);
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
                         {"p50", us(permille_ns(500))},
                         {"p95", us(permille_ns(950))},
                         {"p99", us(permille_ns(990))},
                         {"p999", us(permille_ns(999))},
                         {"max", us(max_ns_)}});
}

} // namespace flashlab
