/// Greedy: the block with the fewest valid units, the one that came to that number first among equals, so that runs repeat.
///
/// Idea       The fewest copies now; optimal under uniform random writes.
/// Invariant  See victim_policy.h.
/// Cost       O(1) amortised.
/// Power cut  Keeps nothing.
/// Source     Kim et al. (HY) 4.1 ("selecting a victim block among the data blocks"); Kawaguchi et al., USENIX 1995, for the name.
#pragma once

#include "ftl/blocks/victim_policy.h"

namespace flashlab {

class GreedyVictim final : public VictimPolicy {
public:
    [[nodiscard]] std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) override;
};

} // namespace flashlab
