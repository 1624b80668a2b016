/// DFTL: a page map whose table lies on flash; DRAM holds the entries in use.
///
/// Idea       Translation pages, arrays of entries in order of the logical page, have a frontier of their own. The global translation directory (GTD)
///            says where each lies. The mapping cache (CMT) holds entries in LRU order: a read miss reads a translation page, a write miss makes a
///            dirty entry without any flash operation; when a dirty entry must leave, all dirty ones of its translation page are written with it
///            (batch update). A collection that moves a data page changes its cached entry (lazy copying); entries not cached are set aside, and
///            written later, a few translation pages with each page of the host.
/// Invariant  F1 the entry of a logical page is the cached one, else the one in its translation page; it names a valid unit, and no two entries name
///            one.
///            F2 gtd_ names the newest version of each translation page; on_flash_ is what that page holds: entries not cached, or cached and clean,
///            are equal.
///            F3 a translation page starts after every data page that its new entries name has ended, and holds every entry that was dirty then.
///            F4 a unit's OOB names its logical (translation) page. F5 B1 to B5 of ftl/blocks/page_blocks.h, J1 to J4 of ftl/recovery/page_journal.h.
///            F6 no more than a block's worth of entries a group is set aside: a checkpoint holds them (checkpoint_bytes_at_most).
/// Cost       DRAM of the device: 8 bytes an entry, cached or set aside, 4 bytes a translation page, 1 bit a unit. A read miss: one translation read,
///            an eviction of a dirty entry: one read and one program. (The simulator itself keeps on_flash_, 4 bytes a logical page, so that a run
///            needs no payload.)
/// Power cut  Checkpoint = GTD and dirty entries. Recovery: that, the census of blocks programmed since, one read of each translation page.
/// Source     Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of page-level address mappings",
///            ASPLOS 2009; Shim et al. (AP4) for write misses. Differences: ftl/DESIGN-dftl.md.
#pragma once

#include "base/divider.h"
#include "base/zeroed_allocator.h"
#include "ftl/blocks/map_check.h"
#include "ftl/blocks/row_writer.h"
#include "ftl/blocks/unit_reader.h"
#include "ftl/cache/ghost_bitmap.h"
#include "ftl/cache/mapping_cache.h"
#include "ftl/cache/mapping_space.h"
#include "ftl/cache/running_mean.h"
#include "ftl/cache/unit_costs.h"
#include "ftl/options.h"
#include "ftl/recovery/page_journal.h"

namespace flashlab {

namespace dftl_option {
inline constexpr OptionOf<std::uint64_t> mapping_cache_bytes{{.key = "ftl.mapping_cache_bytes",
                                                              .help = "dftl: DRAM for mapping entries; 0: a 32nd of the map.",
                                                              .max = std::uint64_t{1} << 34,
                                                              .is_size = true,
                                                              .behind = "ftl.checkpoint_blocks"}};
inline constexpr OptionOf<std::uint32_t> mapping_entry_bytes{
    {.key = "ftl.mapping_entry_bytes",
     .help = "dftl: DRAM that a mapping entry takes: 8, logical and physical page number; 16 with the links of the LRU list.",
     .initial = 8,
     .min = 4,
     .max = 64,
     .behind = "ftl.mapping_cache_bytes"}};
inline constexpr OptionOf<bool> fetch_on_write_miss{
    {.key = "dftl.fetch_on_write_miss",
     .help = "1: a write whose mapping entry is not cached reads its translation page first, once for a request, as Gupta et al. have it; 0: it "
             "makes a dirty entry (Shim et al.).",
     .phase = OptionPhase::mount,
     .max = 1}};
} // namespace dftl_option

struct DftlCounters {
    std::uint64_t map_read_hits = 0; ///< logical pages looked up
    std::uint64_t map_read_misses = 0;
    std::uint64_t map_write_hits = 0;
    std::uint64_t map_write_misses = 0;
    std::uint64_t map_evictions = 0;       ///< entries that left the mapping cache for another
    std::uint64_t map_dirty_evictions = 0; ///< of these: had to be written first
    std::uint64_t batch_updates = 0;       ///< translation pages written for dirty entries
    std::uint64_t batch_entries = 0;       ///< dirty entries written by them
    std::uint64_t translation_reads = 0;
    std::uint64_t translation_writes = 0; ///< without copies by collections
};

/// The cached mapping table: how many entries, and what one takes of the drive's DRAM.
struct CachedEntries {
    std::uint32_t count = 0;
    std::uint32_t bytes_each = MappingCache::device_bytes_per_entry;
    bool fetched_for_writes = false; ///< a write miss reads the translation page (Gupta et al.); else it makes a dirty entry without (Shim et al.)
};

class Dftl final : public Ftl, public MappingSpace, private PageOwner {
public:
    static constexpr FrontierId data_frontier = host_frontier;
    static constexpr FrontierId map_frontier{1};

    Dftl(const PageBlocksConfig& blocks, const PageJournalConfig& journal, CachedEntries cached, NandArray& array, EventSink& events,
         BlockPolicies policies);

    std::string_view name() const override { return "dftl"; }
    FtlCounters counters() const override;
    [[nodiscard]] const DftlCounters& dftl_counters() const { return counted_; }
    FtlSpace space() const override;
    [[nodiscard]] const MappingCache& cache() const { return cache_; }

    // dftl_space.cpp: its share of the drive's DRAM. GTD and cached entries (CMT); unit: an entry.
    MappingSpace* mapping_space() override { return this; }
    MappingSpaceShape map_shape() const override;
    std::uint64_t map_bytes_used() const override;
    FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) override;
    ProfitFactors profit_factors() override;
    void watch(GhostBitmap& ghost) override { ghost_ = &ghost; }
    void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) override;
    double take_misses(std::span<MissCount> counts) override { return curve_->take(counts); }

    /// Entries of a translation page; the pages of a map.
    [[nodiscard]] static std::uint32_t entries_per_page(const UnitGeometry& units) { return units.bytes_per_unit() / 4; }
    [[nodiscard]] static std::uint32_t translation_pages(const UnitGeometry& units, std::uint32_t logical_pages) {
        return (logical_pages + entries_per_page(units) - 1) / entries_per_page(units);
    }
    /// Of the scheme's part of a checkpoint.
    [[nodiscard]] static std::uint64_t checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t cached_entries);

private:
    // Ftl
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;
    SimTime do_idle(SimTime now) override;
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now) override;
    FtlResult<SimTime> do_shut_down(SimTime now) override;
    bool do_is_mapped(Lpn lpn) const override { return entry_of(lpn) != unmapped; }
    BlockStatus do_status_of(BlockId block) const override;
    std::vector<CheckProblem> do_check() override;

    static constexpr std::uint32_t unmapped = 0; ///< an entry is its unit's number + 1

    [[nodiscard]] std::uint32_t entry_of(Lpn lpn) const { return cache_.peek(lpn).value_or(on_flash_[lpn.value()]); }
    [[nodiscard]] static std::optional<UnitId> unit_of(std::uint32_t entry) {
        return entry == unmapped ? std::nullopt : std::optional{UnitId{entry - 1}};
    }
    [[nodiscard]] std::uint32_t page_of(Lpn lpn) const { return to_page_.divide(lpn.value()); }

    SimTime opened(OpenSuperblock&, const OpenSuperblock&, SimTime ready) override { return ready; }
    void closed(OpenSuperblock&, SimTime) override {}
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) override;
    FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job) override;
    SimTime condemned(BlockId, SimTime now, EventId) override { return now; }

    // dftl_map.cpp: the map's traffic with flash
    /// The entries of the run are in the cache, or none is needed; returns when.
    [[nodiscard]] FtlResult<SimTime> look_up(Lpn first, std::uint32_t pages, const Io& io);
    /// The translation pages of entries of the run that are not cached have been read; returns when. One read serves the pages of one request:
    /// `just_read` is the page that its earlier rows read last.
    [[nodiscard]] FtlResult<SimTime> fetch_missing(Lpn first, std::uint32_t pages, std::optional<std::uint32_t>& just_read, const Io& io);
    /// Evicts until so many more entries fit the capacity, as far as the flash lets it.
    [[nodiscard]] FtlResult<SimTime> make_room(std::uint32_t entries, const Io& io);
    /// Writes the translation page with all its dirty entries. None when the group has no room now: they stay dirty.
    [[nodiscard]] FtlResult<SimTime> batch_update(std::uint32_t page, const Io& io);
    [[nodiscard]] FtlResult<SimTime> read_translation_page(std::uint32_t page, const Io& io);
    [[nodiscard]] std::span<const std::byte> translation_page(std::uint32_t page);
    [[nodiscard]] FtlResult<SimTime> trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io);
    void forget_page(std::uint32_t page, SimTime now);
    /// A share of the translation pages whose entries are set aside, with so many pages of the host. Nobody waits for it.
    [[nodiscard]] FtlResult<void> keep_pace(std::uint32_t pages, const Io& io);
    [[nodiscard]] std::uint32_t most_aside() const { return blocks_.groups() * blocks_.units().units_per_block(); }
    void drop_clean_excess();
    void set_entry(Lpn lpn, std::uint32_t entry);
    void evict_entry(Lpn lpn);
    [[nodiscard]] std::span<const std::byte> map_bytes();
    [[nodiscard]] FtlResult<void> pace_checkpoint(const Io& io);
    [[nodiscard]] FtlResult<SimTime> flush_trims(const Io& io);

    // dftl_recovery.cpp
    struct DirtyEntry {
        Lpn lpn;
        std::uint32_t entry;
    };
    [[nodiscard]] bool decode(std::span<const std::byte> scheme_part, std::vector<DirtyEntry>& dirty);
    [[nodiscard]] FtlResult<SimTime> read_translation_pages(SimTime now, FtlRecovery& report);
    [[nodiscard]] bool take_map(std::span<const std::uint32_t> map);

    NandArray& array_;
    std::uint32_t logical_pages_;
    std::uint32_t entries_per_page_;
    Divider to_page_;
    ZeroedVector<std::uint32_t> on_flash_; ///< what the translation pages hold, by logical page
    std::vector<std::uint32_t> gtd_;       ///< unit + 1 by translation page, 0 = never written
    MappingCache cache_;
    PageBlocks blocks_;
    PageJournal journal_;
    UnitReader reader_;
    FtlCounters counters_;
    DftlCounters counted_;
    std::vector<std::byte> page_;        ///< a translation page, for program and recovery
    ZeroedVector<std::byte> checkpoint_; ///< as long as one; written where payload is kept
    SimTime programmed_at_ = sim_start;  ///< end of the last program that the map names
    SimTime durable_at_ = sim_start;

    // For the partition of the DRAM
    struct Collected {
        std::uint32_t copies = 0;   ///< of the collection under way
        RunningMean copies_a_block; ///< by what a collected block held
    };
    CachedEntries most_; ///< dirty ones must fit in a checkpoint
    void count_reads(Lpn first, std::uint32_t pages);
    GhostBitmap* ghost_ = nullptr;
    std::optional<ReuseCurve> curve_;           ///< of cached entries
    Collected collected_[2];                    ///< by frontier
    RunningMean batch_;                         ///< entries of a batch update
    DftlCounters profit_seen_;                  ///< counted_ at the last call of profit_factors()
    std::uint64_t looked_up_pages_ = 0;         ///< translation pages read for the host's reads since then
    double read_misses_ = 0, write_misses_ = 0; ///< ratios, of the last interval that had any
};

} // namespace flashlab
