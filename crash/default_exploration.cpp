#include "crash/default_exploration.h"

#include <algorithm>
#include <cmath>

#include "base/contract.h"
#include "crash/tiny_devices.h"

namespace flashlab {

namespace {

constexpr std::uint64_t states_a_round = 192;
constexpr std::uint32_t steps_a_workload = 24;

} // namespace

std::expected<std::unique_ptr<DrawnExploration>, std::string>
DrawnExploration::make(const std::string& scheme, std::uint64_t seed, const std::vector<std::string>& devices, Sabotage* sabotage, JudgeSet judges) {
    std::unique_ptr<DrawnExploration> made{new DrawnExploration{seed}};
    std::string refusal;
    for (const std::string& device : devices.empty() ? tiny_devices() : devices) {
        auto explorer = Explorer::make(scheme, device, sabotage, judges);
        if (explorer)
            made->arms_.push_back({.explorer = std::move(*explorer)});
        else
            refusal = explorer.error();
    }
    if (made->arms_.empty()) return std::unexpected(refusal);
    return made;
}

/// Every other round is the turn of the device with the fewest; the rest go where most was new, less the more rounds there have been already.
DrawnExploration::Arm& DrawnExploration::next() {
    if (rounds_++ % 2 == 0) return *std::ranges::min_element(arms_, {}, &Arm::rounds);
    const auto worth = [](const Arm& arm) { return arm.yield / std::sqrt(static_cast<double>(arm.rounds + 1)); };
    return *std::ranges::max_element(arms_, {}, worth);
}

void DrawnExploration::run(std::uint64_t states, ExploreLimits limits, ExploreReport& report) {
    const std::uint64_t until = report.states + std::min(states, limits.states - std::min(limits.states, report.states));
    limits.states = until;
    const std::uint64_t most_rounds = rounds_ + states / 8 + 16; // a workload that fails before any cut adds no state
    bool goes_on = true;
    while (goes_on && rounds_ < most_rounds && report.states < until && report.violations.size() < limits.violations) {
        Arm& arm = next();
        const std::uint64_t states_before = report.states;
        const std::uint64_t distinct_before = report.distinct_states;
        const Workload workload = Workload::random(random_.next(), steps_a_workload, arm.explorer->units());
        arm.explorer->sample(workload, std::min(states_a_round, until - report.states), random_, limits, report);
        const double is_new = static_cast<double>(report.distinct_states - distinct_before);
        const double judged = static_cast<double>(std::max<std::uint64_t>(1, report.states - states_before));
        arm.yield = ++arm.rounds == 1 ? is_new / judged : (arm.yield + is_new / judged) / 2;
        goes_on = !limits.go_on || limits.go_on(report);
    }
}

std::vector<std::string> DrawnExploration::devices() const {
    std::vector<std::string> names;
    for (const Arm& arm : arms_) names.push_back(arm.explorer->device());
    return names;
}

Explorer& DrawnExploration::explorer_of(const std::string& device) {
    const auto arm = std::ranges::find_if(arms_, [&](const Arm& a) { return a.explorer->device() == device; });
    ensure(arm != arms_.end(), "a device of this exploration");
    return *arm->explorer;
}

std::expected<std::vector<std::string>, std::string> explore_by_default(const std::string& scheme, std::uint64_t seed, const Effort& effort,
                                                                        const ExploreLimits& limits, ExploreReport& report, Sabotage* sabotage,
                                                                        JudgeSet judges) {
    const auto whole = Explorer::make(scheme, "chip-slc", sabotage, judges);
    if (!whole) return std::unexpected(whole.error());
    ExploreLimits first = limits;
    first.states = std::min(limits.states, effort.exhausted);
    for (const Workload& workload : standard_workloads((*whole)->units())) {
        const bool is_over = report.states >= first.states || report.violations.size() >= limits.violations;
        if (!is_over && (!limits.go_on || limits.go_on(report))) (*whole)->exhaust(workload, first, report);
    }
    const auto drawn = DrawnExploration::make(scheme, seed, {}, sabotage, judges);
    if (!drawn) return std::unexpected(drawn.error());
    (*drawn)->run(effort.drawn, limits, report);
    return (*drawn)->devices();
}

} // namespace flashlab
