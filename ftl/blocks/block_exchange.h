/// Where a ring that moves gets its blocks from, and gives worn ones back to: the scheme's free blocks.
///
/// Idea       One block of the ring is given for a free one of the same die that is worn less: each die of the scheme has as many blocks afterwards
///            as before.
/// Invariant  A lent block is named by nothing durable from `ready` on. A block given back is garbage, and nothing is done to it before `ready`.
/// Cost       One virtual call for each block of the ring that is erased.
/// Power cut  Keeps nothing: which side of the exchange holds after a cut, the ring's table says (ftl/recovery/meta_log.h, M4).
#pragma once

#include <cstdint>
#include <optional>

#include "base/id.h"
#include "base/sim_time.h"
#include "nand/geometry.h"

namespace flashlab {

class BlockExchange {
public:
    struct Lent {
        BlockId block{0};
        SimTime ready;
    };
    virtual ~BlockExchange() = default;
    /// The least worn of the plane's free blocks at hand; none when there is none.
    [[nodiscard]] virtual std::optional<Lent> offer(PlaneId plane) = 0;
    /// Takes what was offered for that plane last; nothing else was done since.
    virtual void lend(BlockId offered) = 0;
    virtual void give(BlockId block, SimTime ready) = 0;
};

} // namespace flashlab
