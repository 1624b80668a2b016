/// Which loads identify which parameters of a drive.
///
/// Idea       A table: a parameter, its range, and the number of a load that it moves and hardly anything else does.
/// Invariant  What stands first is fitted first; a row rests on those before it. Of a parameter's rows the first that has a point is taken.
/// Source     docs/fidelity.md.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "tools/fit/fio_results.h"

namespace flashlab {

enum class FitMetric : std::uint8_t { iops, p50, p99, waf, cache_share, first_speed, then_speed, mean_speed };
[[nodiscard]] std::string_view name_of(FitMetric metric);

/// A number of one stream of one point.
struct FitTarget {
    std::size_t point = 0, stream = 0;
    bool is_read = false;
    FitMetric metric = FitMetric::iops;
    friend bool operator==(const FitTarget&, const FitTarget&) = default;
};

[[nodiscard]] double value_of(const FitPoint& point, const FitTarget& target);

/// What identifies a parameter: points that match, the best of them first.
struct Identified {
    std::string_view key;
    double low, high;
    std::string_view load; ///< in words
    bool is_read;
    FitMetric metric;
    bool (*matches)(const FitPoint& point, const FitStream& stream);
    /// Of several the one with the largest; of a choice all.
    double (*preference)(const FitStream& stream);
    std::array<double, 4> choices{}; ///< not zero: one of these
    [[nodiscard]] bool is_choice() const { return choices[0] != 0; }
};

[[nodiscard]] std::span<const Identified> identified_parameters();
/// The points that identify it: the best of them, or all.
[[nodiscard]] std::vector<FitTarget> targets_of(const Identified& what, const std::vector<FitPoint>& points);
/// Every number that the file has of a point.
[[nodiscard]] std::vector<FitTarget> targets_of(const FitPoint& point, std::size_t number);

} // namespace flashlab
