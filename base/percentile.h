/// Whether a percentile can be told.
///
/// Idea       The slowest of ten requests is no 99th percentile, and one that is made up of it says nothing of the next ten.
/// Invariant  One rule for all reports.
/// Cost       A product.
/// Power cut  Not concerned.
#pragma once

#include <cstdint>

namespace flashlab {

/// At least one of so many requests lies beyond the percentile.
[[nodiscard]] constexpr bool tells_percentile(std::uint64_t requests, double percent) {
    return static_cast<double>(requests) * (100 - percent) / 100 >= 0.99;
}

} // namespace flashlab
