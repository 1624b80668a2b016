#include "ftl/blocks/greedy_victim.h"

#include "ftl/blocks/victim_policies.h"

namespace flashlab {

std::optional<Victim> GreedyVictim::choose(const FullBlocks& full, PlaneId plane) {
    const auto block = full.fewest_valid(plane);
    if (!block || full.valid_of(*block) == full.units().units_per_block()) return std::nullopt;
    return Victim{*block, static_cast<double>(full.valid_of(*block))};
}

const VictimPolicyEntry& greedy_victim() {
    static constexpr VictimPolicyEntry entry{
        "greedy", [](const OptionSet&, std::uint64_t) -> std::unique_ptr<VictimPolicy> { return std::make_unique<GreedyVictim>(); }};
    return entry;
}

} // namespace flashlab
