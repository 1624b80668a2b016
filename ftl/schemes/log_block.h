/// Log-block mapping: each logical block with recent writes has a log block of its own.
///
/// Idea       Every write goes to the next page of its logical block's log block. A full log block is merged with its data block: switched when it
///            holds the whole block in place, else rewritten. When all log blocks are taken, the one written least recently is merged.
/// Invariant  Merge FTL's; log blocks all have a home; at most `log_blocks` of them once a write has found its place.
/// Cost       Sequential writes: nothing but the program. Random ones: a merge for each log block's worth of overwrites, or for each write once more
///            logical blocks are written than there are log blocks (thrashing).
/// Power cut  MergeFtl's.
/// Source     Kim, Kim, Noh, Min, Cho, "A space-efficient flash translation layer for CompactFlash systems", 2002 (BAST); HY8 (LBFTL, 4 log blocks).
#pragma once

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

class LogBlockFtl final : public MergeFtl {
public:
    LogBlockFtl(MergeFtlConfig config, NandArray& array, EventSink& events) : MergeFtl{std::move(config), array, events} {}
    std::string_view name() const override { return "log_block"; }

private:
    FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) override;
};

} // namespace flashlab
