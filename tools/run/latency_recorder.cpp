#include "tools/run/latency_recorder.h"

#include <cmath>

namespace flashlab {

Json LatencyRecorder::to_json() const {
    const auto us = [this](std::uint64_t ns) { return count() == 0 ? Json{} : Json{static_cast<double>(ns) / 1e3}; };
    const double mean = count() == 0 ? 0.0 : std::round(static_cast<double>(sum_ns_) / static_cast<double>(count())) / 1e3;
    return Json::object({{"mean", count() == 0 ? Json{} : Json{mean}},
                         {"p50", us(permille_ns(500))},
                         {"p95", us(permille_ns(950))},
                         {"p99", us(permille_ns(990))},
                         {"p999", us(permille_ns(999))},
                         {"max", us(ns_.max())}});
}

} // namespace flashlab
