/// Latencies of one kind of request as a curve: from the fastest to the 99.99th percentile.
///
/// Idea       A histogram takes the rows; the curve is read off at fixed percentiles, denser where the tail is.
/// Invariant  The answer for a percentile is at least the exact one, and less than 0.8 % above it (base/log_linear_histogram.h).
/// Cost       A bit scan a row, 60 KiB.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/log_linear_histogram.h"
#include "tools/text/json.h"

namespace flashlab {

class LatencyCurve {
public:
    /// Percentiles of the curve.
    static constexpr std::array percentiles{0.0,  5.0,  10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0,  75.0, 80.0,  85.0,  90.0,  92.5,  95.0, 96.0,
                                            97.0, 98.0, 98.5, 99.0, 99.3, 99.5, 99.7, 99.8, 99.85, 99.9, 99.93, 99.95, 99.97, 99.98, 99.99};

    void add(std::int64_t ns) {
        const auto value = static_cast<std::uint64_t>(ns < 0 ? 0 : ns);
        histogram_.add(value);
        sum_ += static_cast<double>(value);
    }
    [[nodiscard]] std::uint64_t count() const { return histogram_.count(); }
    [[nodiscard]] double mean_us() const { return count() == 0 ? 0 : sum_ / static_cast<double>(count()) / 1e3; }
    [[nodiscard]] double max_us() const { return static_cast<double>(histogram_.max()) / 1e3; }
    [[nodiscard]] double percentile_us(double percent) const {
        const auto rank = static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(count())));
        return static_cast<double>(histogram_.at_rank(rank == 0 ? 1 : rank)) / 1e3;
    }
    /// The values at `percentiles`. Null where fewer requests than the percentile tells apart were made: of 100 requests none is the 99.99th.
    [[nodiscard]] Json to_json() const {
        Json out{Json::Array{}};
        for (const double p : percentiles) {
            const bool is_told_apart = static_cast<double>(count()) * (100 - p) / 100 >= 0.99;
            out.push(is_told_apart ? Json{percentile_us(p)} : Json{});
        }
        return out;
    }

private:
    LogLinearHistogram<7> histogram_;
    double sum_ = 0;
};

} // namespace flashlab
