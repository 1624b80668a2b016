#include "ftl/blocks/fifo_victim.h"

#include "ftl/blocks/victim_policies.h"

namespace flashlab {

std::optional<Victim> FifoVictim::choose(const FullBlocks& full, PlaneId plane) {
    auto block = full.first_filled(plane);
    while (block && full.valid_of(*block) == full.units().units_per_block()) block = full.filled_after(*block);
    if (!block) return std::nullopt;
    return Victim{*block, static_cast<double>(full.filled_at(*block))};
}

const VictimPolicyEntry& fifo_victim() {
    static constexpr VictimPolicyEntry entry{
        "fifo", [](const OptionSet&, std::uint64_t) -> std::unique_ptr<VictimPolicy> { return std::make_unique<FifoVictim>(); }};
    return entry;
}

} // namespace flashlab
