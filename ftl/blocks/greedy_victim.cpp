#include "ftl/blocks/greedy_victim.h"

namespace flashlab {

std::optional<BlockId> GreedyVictim::choose(const FullBlocks& full, PlaneId plane) const { return full.fewest_valid(plane); }

} // namespace flashlab
