/// Latencies of one kind of request as a curve: from the fastest to the 99.99th percentile.
///
/// Idea       All latencies are kept and sorted once; the curve is read off at fixed percentiles, denser where the tail is.
/// Invariant  A percentile is the latency of a request: p99 of n is the one at rank n * 99 / 100, rounded up, as in the view v_request_pct.
/// Cost       8 bytes a request, and one sort.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/percentile.h"
#include "tools/text/json.h"

namespace flashlab {

class LatencyCurve {
public:
    /// Percentiles of the curve.
    static constexpr std::array percentiles{0.0,  5.0,  10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0,  75.0, 80.0,  85.0,  90.0,  92.5,  95.0, 96.0,
                                            97.0, 98.0, 98.5, 99.0, 99.3, 99.5, 99.7, 99.8, 99.85, 99.9, 99.93, 99.95, 99.97, 99.98, 99.99};

    void add(std::int64_t ns) { ns_.push_back(std::max<std::int64_t>(ns, 0)); }
    /// After the last of them, before the first question.
    void sort() { std::ranges::sort(ns_); }
    [[nodiscard]] std::uint64_t count() const { return ns_.size(); }
    [[nodiscard]] double mean_us() const {
        return ns_.empty() ? 0 : std::accumulate(ns_.begin(), ns_.end(), 0.0) / static_cast<double>(ns_.size()) / 1e3;
    }
    [[nodiscard]] double max_us() const { return ns_.empty() ? 0 : static_cast<double>(ns_.back()) / 1e3; }
    [[nodiscard]] double percentile_us(double percent) const {
        if (ns_.empty()) return 0;
        const auto hundredths = static_cast<std::uint64_t>(std::lround(percent * 100));
        return static_cast<double>(ns_[std::max<std::uint64_t>((hundredths * count() + 9999) / 10000, 1) - 1]) / 1e3;
    }
    /// Whether so many requests were made that there is such a percentile: of 100 requests none is the 99.99th.
    [[nodiscard]] bool has(double percent) const { return tells_percentile(count(), percent); }
    /// The values at `percentiles`. Null where there is none.
    [[nodiscard]] Json to_json() const {
        Json out{Json::Array{}};
        for (const double p : percentiles) out.push(has(p) ? Json{percentile_us(p)} : Json{});
        return out;
    }

private:
    std::vector<std::int64_t> ns_;
};

} // namespace flashlab
