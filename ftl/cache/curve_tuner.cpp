#include "ftl/cache/curve_tuner.h"

#include <algorithm>
#include <cmath>

#include "base/contract.h"

namespace flashlab {

namespace {

void remember(std::vector<MissCount>& sums, std::span<const MissCount> counts, double kept) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = {sums[i].reads * kept + counts[i].reads, sums[i].writes * kept + counts[i].writes};
}

/// Of what two counts are apart, each operation with its cost squared: what the variance of a whole sample would be.
double squared(const MissCount& a, const MissCount& b, double of_read, double of_write) {
    return std::abs(a.reads - b.reads) * of_read * of_read + std::abs(a.writes - b.writes) * of_write * of_write;
}

} // namespace

CurveTuner::CurveTuner(std::vector<std::uint64_t> map_bytes, std::size_t step, Rules rules)
    : map_bytes_{std::move(map_bytes)}, step_{step}, rules_{rules}, buffer_(map_bytes_.size()), maps_(map_bytes_.size()) {
    ensure(step_ < map_bytes_.size() && std::ranges::is_sorted(map_bytes_), "N1: a row of shares, and one of them");
}

CurveTuner::Decision CurveTuner::decide(const Sampled& buffer, const Sampled& maps, const ProfitFactors& factors) {
    remember(buffer_, buffer.missed, rules_.kept);
    remember(maps_, maps.missed, rules_.kept);
    const auto of_buffer = [&](std::size_t i) { return buffer_[i].reads * factors.buffer_read + buffer_[i].writes * factors.buffer_write; };
    const auto of_maps = [&](std::size_t i) { return maps_[i].reads * factors.map_read + maps_[i].writes * factors.map_write; };
    const auto time = [&](std::size_t i) { return of_buffer(i) + of_maps(i); };
    std::size_t best = step_;
    for (std::size_t i = 0; i < map_bytes_.size(); ++i)
        if (time(i) < time(best)) best = i;
    const double variance = buffer.each_stands_for * squared(buffer_[step_], buffer_[best], factors.buffer_read, factors.buffer_write) +
                            maps.each_stands_for * squared(maps_[step_], maps_[best], factors.map_read, factors.map_write);
    const bool is_worth_it = time(step_) - time(best) > std::max(rules_.min_gain * time(step_), rules_.min_errors * std::sqrt(variance)); // N2
    // What the way there, or the next step up, would save and cost.
    const std::size_t low = best != step_ ? std::min(best, step_) : std::min(step_, map_bytes_.size() - 2), high = std::max(best, low + 1);
    const auto bytes = static_cast<double>(std::max<std::uint64_t>(map_bytes_[high] - map_bytes_[low], 1));
    if (is_worth_it) {
        const std::size_t way = (std::max(best, step_) - std::min(best, step_) + 1) / 2;
        step_ = best > step_ ? step_ + way : step_ - way;
    }
    return {(of_buffer(high) - of_buffer(low)) / bytes, (of_maps(low) - of_maps(high)) / bytes, step_};
}

} // namespace flashlab
