/// The comparisons of series that decide whether a claim holds. They stand apart from the experiments, so that tests can try them on series that must
/// fail.
///
/// Invariant  V1 a value that is no number fails every verdict. V2 too few values to compare are no evidence: the verdict is false.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/contract.h"

namespace flashlab {

[[nodiscard]] inline bool are_numbers(std::span<const double> y) {
    return std::ranges::all_of(y, [](double value) { return std::isfinite(value); });
}

/// True if each value is above the one before it, or below that by less than the fraction `slack`, and the last value is above the first.
[[nodiscard]] inline bool grows(std::span<const double> y, double slack = 0) {
    if (y.size() < 2 || !are_numbers(y)) return false;
    for (std::size_t i = 1; i < y.size(); ++i)
        if (y[i] <= y[i - 1] * (1 - slack)) return false;
    return y.back() > y.front();
}

/// True if all values are positive and the largest is above the smallest by less than the fraction `tolerance`.
[[nodiscard]] inline bool is_flat(std::span<const double> y, double tolerance) {
    if (y.size() < 2 || !are_numbers(y)) return false;
    const auto [least, most] = std::ranges::minmax(y);
    return least > 0 && most < least * (1 + tolerance);
}

[[nodiscard]] inline bool is_about(double a, double b, double tolerance) {
    const double both[] = {a, b};
    return is_flat(both, tolerance);
}

/// The least ratio of two curves over the same x. It is 0 if a value is missing or not positive, so that no claim of being above holds.
[[nodiscard]] inline double least_ratio(std::span<const double> over, std::span<const double> under) {
    ensure(over.size() == under.size(), "two curves over the same x");
    if (over.empty() || !are_numbers(over) || !are_numbers(under)) return 0;
    double least = 1e300;
    for (std::size_t i = 0; i < over.size(); ++i) least = std::min(least, under[i] > 0 ? over[i] / under[i] : 0.0);
    return least;
}

} // namespace flashlab
