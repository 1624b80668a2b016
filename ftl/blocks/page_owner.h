/// What a page-mapping scheme answers its blocks: where its mapping is changed, and in which order, is the scheme's affair.
///
/// Idea       PageBlocks decides which pages move and which blocks are opened, collected and given up; the scheme changes its map and its durable
///            state.
/// Invariant  Called from within a call of PageBlocks only. The valid bits are PageBlocks' own and already changed when moved() is called.
/// Cost       One virtual call a copied unit, a superblock, a collection; none a unit written by the host.
/// Power cut  forget() is the scheme's "forget before erase": what it returns is the earliest instant at which the erase may start.
#pragma once

#include "ftl/blocks/open_superblock.h"
#include "ftl/ftl.h"
#include "nand/page_oob.h"

namespace flashlab {

enum class BlockFate : std::uint8_t { erased, retired };

class PageOwner {
public:
    virtual ~PageOwner() = default;
    /// `set` is about to be written: its columns may be given slots. Returns when its first program may start.
    [[nodiscard]] virtual SimTime opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready) = 0;
    /// Every program of `set` ends by `at`, and every program that replaced one of its units: its blocks are data from now on.
    virtual void closed(OpenSuperblock& set, SimTime at) = 0;
    /// A unit of lpn is moved next but one or so: its entry may be brought nearer. Changes nothing.
    virtual void prefetch(Lpn) const {}
    /// The unit of `oob` lay at `from`, its copy is programmed at `to` in `column` and ends at `end`.
    virtual void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) = 0;
    /// Nothing in `victim` is valid, and what replaced it ends by `at`. Returns when nothing durable names it any more.
    [[nodiscard]] virtual FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job) = 0;
    /// The block, free until now, cannot be erased: it is bad. Returns when that is durable.
    [[nodiscard]] virtual SimTime condemned(BlockId block, SimTime now, EventId job) = 0;
};

} // namespace flashlab
