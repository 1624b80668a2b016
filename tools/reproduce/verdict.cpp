#include "tools/reproduce/verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/reproduce/verdicts.h"

namespace flashlab {
namespace {

bool is_in(const Bound& bound, double value) {
    return std::isfinite(value) && (bound.rule == Rule::above ? value > bound.low : value >= bound.low) && value <= bound.high;
}

std::string numbers_of(const Bound& b) {
    const double unit = b.is_percent ? 100 : 1;
    const std::string end = b.is_percent ? " %" : "";
    const bool has_low = std::isfinite(b.low), has_high = std::isfinite(b.high);
    if (b.rule == Rule::above) return fmt::format("above {:g}{}{}", b.low * unit, has_high ? fmt::format(", at most {:g}", b.high * unit) : "", end);
    if (has_low && has_high) return fmt::format("{:g} to {:g}{}", b.low * unit, b.high * unit, end);
    return has_high ? fmt::format("at most {:g}{}", b.high * unit, end) : fmt::format("at least {:g}{}", b.low * unit, end);
}

std::string rule_of(const Bound& b) {
    switch (b.rule) {
    case Rule::none:
        return {};
    case Rule::flat:
        return fmt::format("the largest at most {:g} % above the smallest", b.high * 100);
    case Rule::rises:
        return fmt::format("each value above the one before{}{}", b.high > 0 ? fmt::format(" or at most {:g} % below", b.high * 100) : "",
                           b.low > 1 ? fmt::format(", the last at least {:g} times the first", b.low) : "");
    case Rule::within:
    case Rule::above:
        return numbers_of(b);
    }
    return {};
}

} // namespace

std::string to_text(const Bound& bound) { return bound.note.empty() ? rule_of(bound) : fmt::format("{} {}", rule_of(bound), bound.note); }

std::vector<double> Evidence::values() const {
    if (under.empty()) return over;
    std::vector<double> quotients;
    for (std::size_t i = 0; i < over.size(); ++i) {
        const bool is_divisor = i < under.size() && under[i] > 0 && std::isfinite(under[i]);
        quotients.push_back(is_divisor ? over[i] / under[i] : std::numeric_limits<double>::quiet_NaN());
    }
    return quotients;
}

bool holds(const Bound& bound, const Evidence& evidence) {
    const std::vector<double> y = evidence.values();
    switch (bound.rule) {
    case Rule::none:
        return true;
    case Rule::flat:
        return is_flat(y, bound.high);
    case Rule::rises:
        return grows(y, bound.high) && y.back() >= bound.low * y.front();
    case Rule::within:
    case Rule::above:
        return !y.empty() && std::ranges::all_of(y, [&](double value) { return is_in(bound, value); });
    }
    return false;
}

} // namespace flashlab
