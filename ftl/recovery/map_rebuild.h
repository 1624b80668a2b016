/// A map brought up to date: the checkpoint's entries that still hold, the trims since, and the newest of what was programmed since.
///
/// Idea       Versions are compared by write sequence. A copy made by a collection has its original's sequence: such ties are settled by block.
/// Invariant  M1 an entry names a unit that is known to the checkpoint or was found whole. M2 nothing older than a page's last durable trim is named
///            (C4).
///            M3 of an original and its copy the copy is taken where that leaves nothing valid in the original's block, else the original: so either
///            the
///               victim or the block of copies is free again, as before the cut (ftl/DESIGN-pages.md, "Reserve").
/// Cost       O(map + found log found).
/// Power cut  Pure: the same flash gives the same map, however often it is asked.
#pragma once

#include <cstdint>
#include <vector>

#include "ftl/recovery/block_census.h"
#include "ftl/recovery/trim_log.h"

namespace flashlab {

/// `map`: unit number + 1 by logical (or translation) page, 0 = unmapped; pages of other kinds are ignored. `trims` may be null.
void rebuild_map(std::span<std::uint32_t> map, PageKind kind, const UnitGeometry& units, const BlockCensus& census, const TrimHistory* trims,
                 std::uint64_t checkpoint_sequence);

} // namespace flashlab
