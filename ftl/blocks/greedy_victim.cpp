#include "ftl/blocks/greedy_victim.h"

namespace flashlab {

std::optional<Victim> GreedyVictim::choose(const FullBlocks& full, PlaneId plane) {
    const auto block = full.fewest_valid(plane);
    if (!block || full.valid_of(*block) == full.units().units_per_block()) return std::nullopt;
    return Victim{*block, static_cast<double>(full.valid_of(*block))};
}

} // namespace flashlab
