/// First in, first out: the block that was filled first, as in a log that is cleaned round and round.
///
/// Idea       Every block is written as often as every other, and blocks need no counts. Desnoyers calls it LRU cleaning.
/// Invariant  See victim_policy.h. A block that is wholly valid is passed over: moving it would gain nothing.
/// Cost       O(1), and a step for each wholly valid block before the victim.
/// Power cut  Keeps nothing; after a mount blocks stand in the order in which recovery found them.
/// Source     Rosenblum and Ousterhout, SOSP 1991 (the log); Desnoyers, SYSTOR 2012, for what it costs under uniform writes.
#pragma once

#include "ftl/blocks/victim_policy.h"

namespace flashlab {

class FifoVictim final : public VictimPolicy {
public:
    [[nodiscard]] std::optional<Victim> choose(const FullBlocks& full, PlaneId plane) override;
    [[nodiscard]] bool minds_copies() const override { return false; }
};

} // namespace flashlab
