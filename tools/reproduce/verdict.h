/// What decides whether a claim holds: a bound from the data file, and the series that were measured.
///
/// Idea       A verdict is data. The figure gives series, paper_values.cpp gives the bound, and holds() compares them. So a test can take the verdict
///            of each claim, put another series in place of the measured one, and see that it is rejected. The words of the bound come from the bound
///            itself, so that a claim cannot say one thing and check another.
/// Invariant  V1 and V2 of verdicts.h.
/// Cost       Linear in the series.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace flashlab {

enum class Rule : std::uint8_t {
    none,   ///< no bound
    within, ///< every value is in [low, high]
    above,  ///< every value is in (low, high]
    rises,  ///< each value is above the one before it, or below that by less than the fraction `high`; the last is at least `low` times the first
    flat,   ///< the largest value is above the smallest by less than the fraction `high`
};

struct Bound {
    static constexpr double open = std::numeric_limits<double>::infinity();
    Rule rule = Rule::none;
    double low = -open, high = open;
    bool is_percent = false;    ///< the values are fractions that are shown in percent
    std::string_view note = {}; ///< what the numbers are of, where the claim does not say it
};

/// "at most 1.03", "15 to 65 %", "each value above the one before".
[[nodiscard]] std::string to_text(const Bound& bound);

/// The values of one comparison: `over`, or `over` divided by `under` point by point. A divisor that is not positive fails every bound.
struct Evidence {
    std::vector<double> over;
    std::vector<double> under = {};
    [[nodiscard]] std::vector<double> values() const;
};

[[nodiscard]] bool holds(const Bound& bound, const Evidence& evidence);

} // namespace flashlab
