/// The bounds of claims, as the data files write them.
#pragma once

#include "tools/reproduce/verdict.h"

namespace flashlab::bounds {

inline constexpr double open = Bound::open;
constexpr Bound between(double low, double high, std::string_view note = {}) { return {Rule::within, low, high, false, note}; }
constexpr Bound percents(double low, double high, std::string_view note = {}) { return {Rule::within, low, high, true, note}; }
constexpr Bound at_most(double high, std::string_view note = {}) { return between(-open, high, note); }
constexpr Bound at_least(double low, std::string_view note = {}) { return between(low, open, note); }
constexpr Bound above(double low, std::string_view note = {}) { return {Rule::above, low, open, false, note}; }
constexpr Bound rising(double slack = 0, double growth = 1, std::string_view note = {}) { return {Rule::rises, growth, slack, false, note}; }
constexpr Bound level_within(double tolerance, std::string_view note = {}) { return {Rule::flat, -open, tolerance, false, note}; }

} // namespace flashlab::bounds
