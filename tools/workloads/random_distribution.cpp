#include "tools/workloads/random_distribution.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/traces/trace_fields.h"
#include "tools/workloads/portable_math.h"

namespace flashlab {
namespace {

constexpr double close_to_one = 1e-6; ///< where zipf's area is taken as the logarithm

std::optional<double> fraction(std::string_view text) {
    const auto scaled = parse_scaled(text, 1'000'000);
    return scaled ? std::optional{static_cast<double>(*scaled) / 1e6} : std::nullopt;
}

/// Sum of k^-theta, k from 1 to n: the first terms one by one, the others by Euler's and Maclaurin's formula, to 12 digits.
double zeta(std::uint64_t n, double theta) {
    constexpr std::uint64_t one_by_one = 1000;
    double sum = 0;
    const auto term = [&](double k) { return portable_pow(k, -theta); };
    for (std::uint64_t k = 1; k <= std::min(n, one_by_one); ++k) sum += term(static_cast<double>(k));
    if (n <= one_by_one) return sum;
    const double from = one_by_one, to = static_cast<double>(n);
    const double area = (portable_pow(to, 1 - theta) - portable_pow(from, 1 - theta)) / (1 - theta);
    return sum + area + (term(to) - term(from)) / 2 + theta * (term(from) / from - term(to) / to) / 12;
}

} // namespace

std::expected<DistributionSpec, std::string> parse_distribution(std::string_view text) {
    const auto wrong = [&] {
        return std::unexpected(fmt::format("distribution '{}': uniform, sequential, zipf:THETA (0.01 to 5), pareto:H (0 to 0.5), "
                                           "hotspot:SHARE,PROBABILITY, fio-zipf:THETA (not 1) or "
                                           "fio-pareto:H is wanted",
                                           text));
    };
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, colon);
    const std::string_view rest = text.substr(std::min(colon + 1, text.size()));
    if (colon == text.size())
        return name == "uniform" || name == "random" ? std::expected<DistributionSpec, std::string>{DistributionSpec{}}
               : name == "sequential"                ? DistributionSpec{.kind = DistributionKind::sequential}
                                                     : std::expected<DistributionSpec, std::string>{wrong()};
    if (name == "hotspot") {
        const std::size_t comma = rest.find(',');
        if (comma == std::string_view::npos) return wrong();
        const auto share = fraction(rest.substr(0, comma)), probability = fraction(rest.substr(comma + 1));
        if (!share || !probability || *share <= 0 || *share >= 1 || *probability > 1) return wrong();
        return DistributionSpec{DistributionKind::hotspot, *share, *probability};
    }
    const auto parameter = fraction(rest);
    if (!parameter) return wrong();
    const bool as_fio = name.starts_with("fio-");
    const std::string_view law = name.substr(as_fio ? 4 : 0);
    if (law == "zipf" && *parameter >= 0.01 && *parameter <= 5 && !(as_fio && *parameter == 1))
        return DistributionSpec{.kind = DistributionKind::zipf, .parameter = *parameter, .as_fio = as_fio};
    if (law == "pareto" && *parameter > 0 && *parameter < 0.5)
        return DistributionSpec{.kind = DistributionKind::pareto, .parameter = *parameter, .as_fio = as_fio};
    return wrong();
}

RandomDistribution::RandomDistribution(const DistributionSpec& spec, std::uint64_t count) : spec_{spec}, count_{count} {
    ensure(count > 0, "there is something to choose from");
    if (spec.kind == DistributionKind::pareto) exponent_ = portable_log(spec.parameter) / portable_log(1 - spec.parameter);
    if (spec.kind == DistributionKind::hotspot)
        hot_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(count) * spec.parameter), 1, count);
    if (spec.kind == DistributionKind::zipf && !spec.as_fio) {
        area_begin_ = area(1.5) - 1;
        area_end_ = area(static_cast<double>(count) + 0.5);
        sure_ = 2 - inverse_area(area(2.5) - height(2));
    }
    if (spec.kind == DistributionKind::zipf && spec.as_fio) {
        constexpr std::uint64_t most_summed = 10'000'000;
        sum_ = zeta(std::min(count, most_summed), spec.parameter);
        eta_ = (1 - portable_pow(2 / static_cast<double>(count), 1 - spec.parameter)) / (1 - (1 + height(2)) / sum_);
    }
}

/// Integral of x^-theta from 1.
double RandomDistribution::area(double x) const {
    const double rest = 1 - spec_.parameter;
    return rest < close_to_one && rest > -close_to_one ? portable_log(x) : (portable_pow(x, rest) - 1) / rest;
}

double RandomDistribution::inverse_area(double y) const {
    const double rest = 1 - spec_.parameter;
    return rest < close_to_one && rest > -close_to_one ? portable_exp(y) : portable_pow(std::max(1 + y * rest, 1e-300), 1 / rest);
}

double RandomDistribution::height(double x) const { return portable_pow(x, -spec_.parameter); }

/// A point under the envelope; the bar of its integer takes it, or it is drawn again.
std::uint64_t RandomDistribution::zipf_rank(Random& random) const {
    for (;;) {
        const double y = area_end_ + random.unit() * (area_begin_ - area_end_);
        const double x = inverse_area(y);
        const auto k = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(x, 0.5) + 0.5), 1, count_);
        const auto bar = static_cast<double>(k);
        if (bar - x <= sure_ || y >= area(bar + 0.5) - height(bar)) return k - 1;
    }
}

/// The two most popular by their shares, the others by a power of what was drawn: not quite a zipf distribution.
std::uint64_t RandomDistribution::fio_zipf_rank(Random& random) const {
    const double u = random.unit(), share = u * sum_;
    if (share < 1) return 0;
    if (share < 1 + height(2)) return 1;
    const double x = static_cast<double>(count_) * portable_pow(eta_ * u - eta_ + 1, 1 / (1 - spec_.parameter));
    return std::min(static_cast<std::uint64_t>(x), count_ - 1);
}

std::uint64_t RandomDistribution::rank(Random& random) {
    switch (spec_.kind) {
    case DistributionKind::uniform:
        return random.below(count_);
    case DistributionKind::sequential:
        return next_++ % count_;
    case DistributionKind::zipf:
        return spec_.as_fio ? fio_zipf_rank(random) : zipf_rank(random);
    case DistributionKind::pareto: {
        const double u = std::max(random.unit(), 1e-18);
        return std::min(static_cast<std::uint64_t>(static_cast<double>(count_) * portable_pow(u, exponent_)), count_ - 1);
    }
    case DistributionKind::hotspot:
        if (random.unit() < spec_.probability || hot_ == count_) return random.below(hot_);
        return hot_ + random.below(count_ - hot_);
    }
    return 0;
}

ScatteredOrder::ScatteredOrder(std::uint64_t n)
    : n_{n}, mask_{std::bit_ceil(n) - 1}, shift_{std::max(1u, static_cast<unsigned>(std::bit_width(mask_)) / 2)} {
    ensure(n > 0 && n <= (std::uint64_t{1} << 40), "there is something to order");
}

} // namespace flashlab
