#include "ftl/blocks/victim_policies.h"

#include <array>

#include "ftl/blocks/cost_benefit_victim.h"
#include "ftl/blocks/d_choices_victim.h"
#include "ftl/blocks/fifo_victim.h"
#include "ftl/blocks/greedy_victim.h"

namespace flashlab {

std::span<const VictimPolicyEntry> victim_policies() {
    using Policy = std::unique_ptr<VictimPolicy>;
    static constexpr std::array<VictimPolicyEntry, 4> all{{
        {"greedy", [](std::uint64_t) -> Policy { return std::make_unique<GreedyVictim>(); }},
        {"cost-benefit", [](std::uint64_t) -> Policy { return std::make_unique<CostBenefitVictim>(); }},
        {"d-choices", [](std::uint64_t seed) -> Policy { return std::make_unique<DChoicesVictim>(10, seed); }},
        {"fifo", [](std::uint64_t) -> Policy { return std::make_unique<FifoVictim>(); }},
    }};
    return all;
}

std::unique_ptr<VictimPolicy> make_victim_policy(std::string_view name, std::uint64_t seed) {
    for (const VictimPolicyEntry& entry : victim_policies())
        if (entry.name == name) return entry.make(seed);
    return nullptr;
}

} // namespace flashlab
