/// Block mapping: page i of a logical block lies at page i of its block, always.
///
/// Idea       The pages of a block are programmed in order, once, so an overwrite copies what comes before it into a fresh block, writes, and copies
///            what comes behind it before the block is left for another one or written backwards. Until then the fresh block is a log block in place;
///            the old one holds the rest. Writing a whole logical block in order copies nothing.
/// Invariant  MergeFtl's; every log block is in place.
/// Cost       A small overwrite costs a block's worth of copies and an erase: the collapse that the other schemes were invented against.
/// Power cut  MergeFtl's.
/// Source     Ban, US patent 5,404,485 (so HY, 2.1.2); CO13 (BL). BL copies the rest at once; here an ascending run of writes shares a copy.
#pragma once

#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

class BlockMapFtl final : public MergeFtl {
public:
    BlockMapFtl(MergeFtlConfig config, NandArray& array, EventSink& events) : MergeFtl{std::move(config), array, events} {}
    std::string_view name() const override { return "block_map"; }

private:
    FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) override;
    bool skips_pages() const override { return true; }
    [[nodiscard]] FtlResult<LogSlot> begin_rewrite(LogicalBlock home, SimTime now);
};

} // namespace flashlab
