#include "ftl/blocks/cost_benefit_victim.h"

#include <limits>

#include "ftl/blocks/victim_policies.h"

namespace flashlab {

std::optional<Victim> CostBenefitVictim::choose(const FullBlocks& full, PlaneId plane) {
    const std::uint32_t units = full.units().units_per_block();
    std::optional<Victim> best;
    for (auto block = full.first_filled(plane); block; block = full.filled_after(*block)) {
        const std::uint32_t valid = full.valid_of(*block);
        if (valid == units) continue;
        if (valid == 0) return Victim{*block, -std::numeric_limits<double>::infinity()};
        const double score = -(static_cast<double>(units - valid) * static_cast<double>(full.age(*block)) / (2.0 * valid));
        if (!best || score < best->score) best = Victim{*block, score};
    }
    return best;
}

const VictimPolicyEntry& cost_benefit_victim() {
    static constexpr VictimPolicyEntry entry{
        "cost-benefit", [](const OptionSet&, std::uint64_t) -> std::unique_ptr<VictimPolicy> { return std::make_unique<CostBenefitVictim>(); }};
    return entry;
}

} // namespace flashlab
