/// FAST: fully associative log blocks.
///
/// Idea       A write that begins a logical block gets the one SW (sequential) log block, in place; writes that continue it follow. All others go to
///            the newest RW log block, whatever their logical block. When the RW log blocks are used up the oldest is reclaimed, round robin: each
///            logical block with a newest version in it is merged. A new beginning merges what the SW log block holds: switch or partial.
/// Invariant  MergeFtl's; after a write has found its place at most one log block has a home, and at most `log_blocks` - 1 have none.
/// Cost       A page is one hash entry. Reclaiming an RW log block costs as many full merges as it has logical blocks (F_as of AP5).
/// Power cut  MergeFtl's. Until the first write after a cut several SW log blocks may be there; they are merged when one is opened.
/// Source     Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer using fully-associative sector translation", 2007; AP5.
#pragma once

#include "ftl/cache/mapping_space.h"
#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

class FastFtl final : public MergeFtl, public MappingSpace {
public:
    FastFtl(MergeFtlConfig config, NandArray& array, EventSink& events) : MergeFtl{std::move(config), array, events} {}
    std::string_view name() const override { return "fast"; }
    /// Of all log blocks that there may be now.
    [[nodiscard]] std::uint64_t log_pages() const { return std::uint64_t{max_logs()} * map_.pages_per_block(); }

    // Its share of the drive's DRAM: the block map, and the page maps of log blocks. Unit: a log block's map.
    static constexpr std::uint32_t device_bytes_per_entry = 4; ///< a block's number; a log page's logical page
    MappingSpace* mapping_space() override { return this; }
    MappingSpaceShape map_shape() const override;
    std::uint64_t map_bytes_used() const override { return fixed_bytes() + std::uint64_t{logs_.count()} * bytes_a_log(); }
    FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) override;
    ProfitFactors profit_factors() override;
    void watch(GhostBitmap& ghost) override;
    void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) override;
    double take_misses(std::span<MissCount> counts) override;

private:
    [[nodiscard]] std::uint64_t fixed_bytes() const { return std::uint64_t{map_.logical_blocks()} * device_bytes_per_entry; }
    [[nodiscard]] std::uint32_t bytes_a_log() const { return map_.pages_per_block() * device_bytes_per_entry; }
    FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) override;
    [[nodiscard]] FtlResult<LogSlot> open_sequential(LogicalBlock home, SimTime now);
    [[nodiscard]] FtlResult<LogSlot> open_random(SimTime now);

    MergeTotals merges_seen_;
    bool hits_are_pages_ = false;
    double copies_ = 0, erases_ = 0, pages_ = 0; ///< since the start, what is long ago counting less
};

} // namespace flashlab
