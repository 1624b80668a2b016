/// Cost-benefit: free space gained times age, over what copying costs: (1 - u) x age / 2u.
///
/// Idea       A block that has not changed for long will not gain much by waiting: collect it at a higher utilisation u than a hot one.
/// Invariant  See victim_policy.h. An empty block (u = 0) beats every other.
/// Cost       O(full blocks of the plane) a collection: the score of every block moves with time.
/// Power cut  Keeps nothing; ages start anew at a mount.
/// Source     Kawaguchi, Nishioka and Motoda, "A Flash-Memory Based File System", USENIX 1995. Age here: units invalidated on the device since the
///            block last changed, not seconds, so that a run does not depend on how fast it is replayed.
#pragma once

#include "ftl/blocks/victim_policy.h"

namespace flashlab {

class CostBenefitVictim final : public VictimPolicy {
public:
    [[nodiscard]] std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) override;
};

} // namespace flashlab
