/// d choices: the block with the fewest valid units among d drawn at random.
///
/// Idea       Nearly as good as greedy from d = 10 on, without any order over all blocks; d = 1 is random, d = all is greedy.
/// Invariant  See victim_policy.h. Draws follow from the seed.
/// Cost       O(d).
/// Power cut  Keeps nothing: the draws start anew at a mount.
/// Source     Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives", SIGMETRICS 2013.
#pragma once

#include "base/random.h"
#include "ftl/blocks/victim_policy.h"

namespace flashlab {

class DChoicesVictim final : public VictimPolicy {
public:
    explicit DChoicesVictim(std::uint32_t choices, std::uint64_t seed) : choices_{choices}, random_{seed} {}
    [[nodiscard]] std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) override;

private:
    std::uint32_t choices_;
    Random random_;
};

} // namespace flashlab
