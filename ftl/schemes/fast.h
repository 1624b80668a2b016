/// FAST: fully associative log blocks.
///
/// Idea       A write that begins a logical block gets the one SW (sequential) log block, in place; writes that continue it follow. All others go to the
///            newest RW log block, whatever their logical block. When the RW log blocks are used up the oldest is reclaimed, round robin: each logical
///            block with a newest version in it is merged. A new beginning merges what the SW log block holds: switch or partial.
/// Invariant  MergeFtl's; after a write has found its place at most one log block has a home, and at most `log_blocks` - 1 have none.
/// Cost       A page is one hash entry. Reclaiming an RW log block costs as many full merges as it has logical blocks (F_as of AP5).
/// Power cut  MergeFtl's. Until the first write after a cut several SW log blocks may be there; they are merged when one is opened.
/// Source     Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer using fully-associative sector translation", 2007; AP5.
#pragma once

#include "ftl/blocks/merge_ftl.h"

namespace flashlab {

class FastFtl final : public MergeFtl {
public:
    FastFtl(MergeFtlConfig config, NandArray& array, EventSink& events) : MergeFtl{std::move(config), array, events} {}
    std::string_view name() const override { return "fast"; }

private:
    FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) override;
    [[nodiscard]] FtlResult<LogSlot> open_sequential(LogicalBlock home, SimTime now);
    [[nodiscard]] FtlResult<LogSlot> open_random(SimTime now);
};

} // namespace flashlab
