/// A page table on flash; DRAM holds the entries in use. `dftl`, `tpftl`, `sftl` and `learnedftl` are PagedFtl with it.
///
/// Idea       Translation pages have a frontier of their own (translation_pages.h). The cache of entries, which is a template argument, says which
///            leaves next and what a miss brings with it. A read miss reads a translation page, a write miss makes a dirty entry without any flash
///            operation; when a dirty entry must leave, all dirty ones of its translation page are written with it (batch update). A collection that
///            moves a data page changes its cached entry (lazy copying); entries not cached are deferred: they wait in DRAM and are written later, a
///            few translation pages with each page of the host.
/// Invariant  F1 the entry of a logical page is the cached one, else the one in its translation page; it names a valid unit, and no two entries name
///            one.
///            F2 the directory names the newest version of each translation page; entries not cached, or cached and clean, are what it holds.
///            F3 a translation page starts after every data page that its new entries name has ended, and holds every entry that was dirty then.
///            F4 a unit's OOB names its logical (translation) page. F5 B1 to B5 of ftl/blocks/page_blocks.h, J1 to J4 of ftl/recovery/page_journal.h.
///            F6 no more than a block's worth of entries a group is deferred: a checkpoint holds them (TranslationPages::checkpoint_bytes_at_most).
/// Cost       DRAM of the device: the cache's and the deferred entries, 4 bytes a translation page, 1 bit a unit. A read miss: one translation read,
///            an eviction of a dirty entry: one read and one program.
/// Power cut  Checkpoint = directory and dirty entries. Recovery: that, the census of blocks programmed since, one read of each translation page.
/// Source     Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of page-level address mappings",
///            ASPLOS 2009; Shim et al. (AP4) for write misses. Differences: ftl/DESIGN-dftl.md.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ftl/cache/ghost_bitmap.h"
#include "ftl/maps/demand_costs.h"
#include "ftl/maps/entry_slots.h"
#include "ftl/maps/journaled_table.h"
#include "ftl/maps/page_models.h"
#include "ftl/maps/translation_pages.h"

namespace flashlab {

/// A cache that keeps whole translation pages, and entries of others.
template <class Entries>
concept CachesPages = requires(Entries& entries, std::uint32_t page) { entries.insert_page(page); };

/// `Entries`: as LruEntries, or SpatialEntries. `of_entries`: what it takes besides. `Models`: PageModels, or none.
template <class Entries, class Models = NoModels>
class DemandTable final : public JournaledTable, public MappingSpace {
public:
    template <class... OfEntries>
    DemandTable(const TableParts& parts, const PageJournalConfig& journal, const CachedEntries& cached, const typename Models::Config& of_models,
                const OfEntries&... of_entries)
        : JournaledTable{parts, journal}, pages_{parts_, counted_}, entries_{cached, pages_.entries_per_page(), pages_.count(), of_entries...},
          models_{parts_, pages_.entries_per_page(), of_models}, most_{cached}, cache_bytes_{std::uint64_t{cached.count} * cached.bytes_each},
          most_deferred_{parts.blocks.groups() * parts.blocks.units().units_per_block()} {
        models_.give(cache_bytes_);
        if constexpr (CachesPages<Entries>) entries_.attend(pages_.stored());
    }

    [[nodiscard]] const DemandCounters& counted() const { return counted_; }
    [[nodiscard]] const Entries& cache() const { return entries_; }
    [[nodiscard]] const Models& models() const { return models_; }
    [[nodiscard]] std::optional<UnitId> current(Lpn lpn) const { return map_entry::unit(entry_of(lpn)); }
    [[nodiscard]] FtlResult<SimTime> look_up(Lpn first, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<void> begin_write(Lpn first, const Io& io) {
        prefetch(first);
        fetched_.reset();
        return pace_checkpoint(io);
    }
    [[nodiscard]] FtlResult<SimTime> before_row(const PagesToWrite& what, std::uint32_t first, std::uint32_t pages, const Io& io);
    void adopt(Lpn lpn, UnitId unit, const OpenColumn&, SimTime end);
    // Groups of pages, put in order for the models (page_groups.h): where the host's next row goes; the next stripe to rewrite, its entries, where
    // its next row goes, a page's new place.
    [[nodiscard]] std::optional<RowPlace> place_to_write(const PagesToWrite& what, std::uint32_t i, std::uint32_t pages) {
        return models_.place_to_write(what, i, pages);
    }
    [[nodiscard]] std::optional<PageRun> next_to_rewrite()
        requires(Models::are_there)
    {
        return models_.next_to_rewrite([this](Lpn lpn) { return current(lpn).has_value(); });
    }
    [[nodiscard]] FtlResult<SimTime> look_up_to_rewrite(const PageRun& stripe, const Io& io);
    [[nodiscard]] RowPlace place_to_rewrite(std::uint32_t pages) { return models_.place_to_rewrite(pages); }
    void rewritten(Lpn lpn, UnitId unit, SimTime end);
    [[nodiscard]] FtlResult<void> after_row(std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, const Io& io);
    void prefetch(Lpn lpn) const { pages_.prefetch(lpn); }
    [[nodiscard]] SimTime opened(OpenSuperblock& set, const OpenSuperblock&, SimTime ready) {
        models_.opened(set);
        return ready;
    }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end);
    [[nodiscard]] FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job);
    [[nodiscard]] std::uint64_t own_pages() const { return pages_.existing(); }
    [[nodiscard]] BlockUse use_of(BlockId block) const {
        return parts_.blocks.kind_of(block) == TranslationPages::frontier.value() ? BlockUse::translation : BlockUse::data;
    }
    [[nodiscard]] std::vector<CheckProblem> check();

    // Its share of the drive's DRAM: directory and cached entries, or pages; unit: one of these, for a page as long as it can be.
    MappingSpace* mapping_space() { return this; }
    MappingSpaceShape map_shape() const override;
    [[nodiscard]] std::uint64_t cache_bytes() const { return fixed_bytes() + cache_bytes_; }
    std::uint64_t map_bytes_used() const override { return fixed_bytes() + entries_.bytes_used() + models_.bytes_used(); }
    FtlResult<SimTime> set_map_bytes(std::uint64_t bytes, SimTime now) override {
        cache_bytes_ = std::clamp<std::uint64_t>(entries_in(bytes), least_entries, most_.count) * most_.bytes_each;
        models_.give(cache_bytes_);
        divide();
        return make_room(0, {now, {Cause::map, no_event}});
    }
    ProfitFactors profit_factors() override { return costs_.factors(counted_, parts_); }
    void watch(GhostBitmap& ghost) override { ghost_ = &ghost; }
    void measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) override;
    double take_misses(std::span<MissCount> counts) override { return curve_->take(counts); }

private:
    static constexpr std::uint32_t least_entries = 4; ///< as mkfs

    [[nodiscard]] std::uint32_t entry_of(Lpn lpn) const {
        if (const auto cached = entries_.peek(lpn)) return *cached;
        if (const auto unit = models_.predict(lpn)) return map_entry::of(*unit);
        return pages_.stored(lpn);
    }
    [[nodiscard]] std::uint64_t fixed_bytes() const { return pages_.directory_bytes() + models_.fixed_bytes(); }
    [[nodiscard]] std::uint64_t entries_in(std::uint64_t bytes) const { return (bytes - std::min(bytes, fixed_bytes())) / most_.bytes_each; }
    /// What the models leave is the entries'.
    void divide() {
        const std::uint64_t left = (cache_bytes_ - std::min(cache_bytes_, models_.bytes_used())) / most_.bytes_each;
        entries_.set_capacity(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(left, std::min(least_entries, most_.count), most_.count)));
    }
    /// Evicts until so many more entries fit the capacity, as far as the flash lets it.
    [[nodiscard]] FtlResult<SimTime> make_room(std::uint32_t entries, const Io& io);
    /// Which dirty entries of a translation page go with the one that is asked for: all; those for whose data it waits no longer than it does anyway;
    /// none.
    enum class Batch : std::uint8_t { whole, ready, alone };
    /// Into dirty_.
    void gather(std::uint32_t page, Batch batch, Lpn asked, SimTime now);
    /// Writes the translation page with its dirty entries. An error of no_free_block when the group has no room now: they stay dirty.
    [[nodiscard]] FtlResult<SimTime> batch_update(std::uint32_t page, const Io& io, Batch batch = Batch::whole, Lpn asked = Lpn{0});
    [[nodiscard]] FtlResult<SimTime> trim_in_page(std::uint32_t page, Lpn first, std::uint32_t pages, const Io& io);
    [[nodiscard]] FtlResult<void> keep_pace(std::uint32_t pages, const Io& io);
    void take_neighbours(Lpn missed, std::uint32_t end);
    void drop_clean_excess();
    void evict(Lpn lpn);
    void place_copy(Lpn lpn, UnitId to);
    void count_reads(Lpn first, std::uint32_t pages);
    /// A page that is not cached is not brought by a write, and one that is keeps its size.
    void count_write(std::uint32_t page)
        requires(CachesPages<Entries>)
    {
        if (curve_ && curve_->is_sampled(page)) curve_->write(page, false, entries_.holds(page) ? entries_.page_bytes(page) : 0);
    }
    [[nodiscard]] std::uint32_t ghost_key(Lpn lpn) const { return CachesPages<Entries> ? pages_.page_of(lpn) : lpn.value(); }

    FtlResult<SimTime> before_checkpoint(const Io& io) override { return make_room(0, io); }
    std::span<const std::byte> recorded() override;
    FtlResult<void> load(PageJournal::Start& start, FtlRecovery& report) override;
    bool idle_work(SimTime now) override { return keep_pace(parts_.blocks.groups(), {now, {Cause::map, no_event}}).has_value(); }
    [[nodiscard]] bool decode(std::span<const std::byte> scheme_part, std::vector<NewEntry>& dirty);
    [[nodiscard]] bool take_map(std::span<const std::uint32_t> map);

    DemandCounters counted_;
    TranslationPages pages_;
    Entries entries_;
    Models models_;
    DemandCosts costs_;
    CachedEntries most_;        ///< dirty ones must fit in a checkpoint
    std::uint64_t cache_bytes_; ///< of entries and models
    std::uint32_t most_deferred_;
    GhostBitmap* ghost_ = nullptr;
    std::optional<ReuseCurve> curve_;      ///< of cached entries, or pages
    std::optional<std::uint32_t> fetched_; ///< the translation page that the write under way read last: one read serves the pages of one request
    std::vector<NewEntry> dirty_;          ///< of a batch update
    ZeroedVector<std::byte> checkpoint_;   ///< as long as one; written where payload is kept
};

// Checkpoint (its bytes: ftl/FORMAT.md) and recovery

template <class Entries, class Models>
std::span<const std::byte> DemandTable<Entries, Models>::recorded() {
    checkpoint_.resize(8 + pages_.directory_bytes() + 8 * std::size_t{entries_.dirty()});
    if (!parts_.array.keeps_payload()) return checkpoint_;
    LittleEndianWriter out{checkpoint_};
    out.u32(pages_.count());
    out.u32(entries_.dirty());
    pages_.encode(out);
    entries_.for_each_dirty([&out](Lpn lpn, std::uint32_t entry) {
        out.u32(lpn.value());
        out.u32(entry);
    });
    ensure(out.full(), "the directory and the dirty entries fill their part");
    return checkpoint_;
}

template <class Entries, class Models>
bool DemandTable<Entries, Models>::decode(std::span<const std::byte> scheme_part, std::vector<NewEntry>& dirty) {
    if (scheme_part.empty()) return true; // no checkpoint yet
    LittleEndianReader in{scheme_part};
    const std::uint32_t pages = in.u32();
    const std::uint32_t entries = in.u32();
    if (in.failed() || pages != pages_.count() || in.left() != 4ull * pages + 8ull * entries) return false;
    pages_.decode(in);
    for (std::uint32_t i = 0; i < entries; ++i) {
        const Lpn lpn{in.u32()};
        if (lpn.value() >= parts_.logical_pages) return false;
        dirty.push_back({lpn, in.u32()});
    }
    return true;
}

template <class Entries, class Models>
FtlResult<void> DemandTable<Entries, Models>::load(PageJournal::Start& start, FtlRecovery& report) {
    const auto foreign = [&] { return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, start.done}); };
    std::vector<NewEntry> dirty;
    if (!decode(start.scheme_part, dirty)) return foreign();
    if (const auto loaded = pages_.load(start, report); !loaded) return loaded;
    std::vector<std::uint32_t> map = pages_.stored_entries();
    // Of a page written since, these may be older than what it holds: then what outdated them is found, or is a trim.
    for (const NewEntry& d : dirty) map[d.lpn.value()] = d.entry;
    if (!start.was_clean) rebuild_map(map, PageKind::data, parts_.blocks.units(), start.census, &start.trims, start.checkpoint.next_sequence);
    if (!take_map(map)) return foreign();
    return {};
}

/// Valid bits, and as dirty entries what flash does not hold; false when units are named twice or are none.
template <class Entries, class Models>
bool DemandTable<Entries, Models>::take_map(std::span<const std::uint32_t> map) {
    for (std::uint32_t page = 0; page < pages_.count(); ++page) {
        const std::size_t first = std::size_t{page} * pages_.entries_per_page();
        const auto entries = map.subspan(first, std::min<std::size_t>(pages_.entries_per_page(), map.size() - first));
        if (std::ranges::all_of(entries, [](std::uint32_t e) { return e == map_entry::unmapped; })) { // trimmed as a whole
            pages_.forget(page);
            continue;
        }
        if (pages_.exists(page) && !take(pages_.unit_entry(page))) return false;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Lpn lpn{static_cast<std::uint32_t>(first + i)};
            if (entries[i] != map_entry::unmapped && !take(entries[i])) return false;
            if (entries[i] != pages_.stored(lpn)) entries_.insert_cold(lpn, entries[i]);
        }
    }
    return true;
}

template <class Entries, class Models>
std::vector<CheckProblem> DemandTable<Entries, Models>::check() {
    PageBlocks& blocks = parts_.blocks;
    std::vector<CheckProblem> out = journal().check();
    blocks.check(out);
    MapCheck map{"F1", "F4", blocks.units(), parts_.array};
    std::uint64_t dirty = 0;
    for (std::uint32_t l = 0; l < parts_.logical_pages; ++l) {
        const Lpn lpn{l};
        if (const std::uint32_t page = pages_.page_of(lpn); !pages_.exists(page) && entries_.dirty_of(page) == 0 && models_.is_blank(page)) {
            l = static_cast<std::uint32_t>(pages_.end_of(page) - 1); // nothing of it is mapped: a large drive that holds little is checked soon
            continue;
        }
        if (const auto unit = current(lpn)) map.check({lpn, PageKind::data, *unit}, blocks.valid().test(*unit), blocks.next_sequence(), out);
        const std::uint32_t entry = entries_.peek(lpn).value_or(pages_.stored(lpn));
        if (entry != pages_.stored(lpn)) ++dirty;
        if (models_.knows(lpn) && models_.predict(lpn) != map_entry::unit(entry))
            out.push_back({"M1", fmt::format("page {}", l), "its model says another unit than its entry"});
    }
    pages_.check(map, out);
    if (dirty > entries_.dirty())
        out.push_back({"F2", "mapping cache", fmt::format("{} entries differ from flash, {} are dirty", dirty, entries_.dirty())});
    if (entries_.deferred() > most_deferred_)
        out.push_back({"F6", "mapping cache", fmt::format("{} entries deferred, {} at most", entries_.deferred(), most_deferred_)});
    if (map.units_named() != blocks.valid().total())
        out.push_back({"F1", "valid bits", fmt::format("{} valid units, {} named", blocks.valid().total(), map.units_named())});
    return out;
}

// The partition of the DRAM (AP4)

template <class Entries, class Models>
MappingSpaceShape DemandTable<Entries, Models>::map_shape() const {
    MappingSpaceShape shape;
    const std::uint64_t entry = most_.bytes_each;
    if constexpr (CachesPages<Entries>)
        shape.unit_bytes = entries_.most_page_bytes();
    else
        shape.unit_bytes = most_.bytes_each;
    shape.fixed_bytes = fixed_bytes();
    shape.least_bytes = shape.fixed_bytes + least_entries * entry;
    shape.most_bytes = shape.fixed_bytes + most_.count * entry;
    shape.interval = 1000;
    shape.ghost_reach_permille = 30; // what left last comes back soonest: a mean over all that have left says little of the next entries
    return shape;
}

template <class Entries, class Models>
void DemandTable<Entries, Models>::measure(std::span<const std::uint64_t> map_bytes, std::uint64_t record_bytes) {
    std::vector<std::uint64_t> sizes;
    for (const std::uint64_t bytes : map_bytes) sizes.push_back(entries_in(bytes) * (CachesPages<Entries> ? most_.bytes_each : 1));
    if constexpr (CachesPages<Entries>)
        curve_.emplace(sizes, record_bytes / ReuseCurve::device_bytes_per_weighed, ReuseCurve::Weighed{entries_.least_page_bytes(), pages_.count()});
    else
        curve_.emplace(sizes, record_bytes / ReuseCurve::device_bytes_per_record);
}

/// One read of a translation page serves the pages of a request: each of them misses a part of it; or the page, where it is cached as a whole.
template <class Entries, class Models>
void DemandTable<Entries, Models>::count_reads(Lpn first, std::uint32_t pages) {
    for (std::uint32_t l = first.value(), end = first.value() + pages; l < end;) {
        const std::uint32_t page = pages_.page_of(Lpn{l});
        const auto until = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, pages_.end_of(page)));
        if constexpr (CachesPages<Entries>) {
            if (pages_.exists(page) && curve_->is_sampled(page)) curve_->read(page, 1, true, entries_.page_bytes(page));
            l = until;
            continue;
        }
        for (const double part = 1.0 / (until - l); l < until; ++l)
            if (pages_.exists(page) && !models_.knows(Lpn{l})) curve_->read(l, part, true);
    }
}

} // namespace flashlab

#include "ftl/maps/demand_table_calls.h" // IWYU pragma: keep
