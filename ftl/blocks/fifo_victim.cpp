#include "ftl/blocks/fifo_victim.h"

namespace flashlab {

std::optional<Victim> FifoVictim::choose(const FullBlocks& full, PlaneId plane) {
    auto block = full.first_filled(plane);
    while (block && full.valid_of(*block) == full.units().units_per_block()) block = full.filled_after(*block);
    if (!block) return std::nullopt;
    return Victim{*block, static_cast<double>(full.filled_at(*block))};
}

} // namespace flashlab
