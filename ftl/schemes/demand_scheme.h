/// What the schemes with a map on demand share: options, plan, and how one is made. Each is an entry cache (ftl/maps/demand_table.h) and an entry of
/// ftl/schemes.def.
#pragma once

#include <algorithm>
#include <array>

#include "ftl/maps/demand_table.h"
#include "ftl/maps/paged_ftl.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/page_plan.h"

namespace flashlab {

/// What differs between them, but for the cache's type.
struct DemandKind {
    std::string_view scheme{};
    const OptionOf<std::uint32_t>* entry_bytes = nullptr; ///< DRAM that an entry takes; null: 8
    const OptionOf<std::uint32_t>* page_bytes = nullptr;  ///< and a translation page that has any; null: nothing
    const OptionOf<bool>* fetches = nullptr;              ///< for a write miss; null: never
    const OptionOf<bool>* batches = nullptr;              ///< evicted dirty entries; null: always
    /// Logical pages of a translation page.
    std::uint32_t (*pages_of)(const UnitGeometry& units) = TranslationPages::entries_in;
    /// Of a checkpoint, the table's part at most.
    std::uint64_t (*recorded)(const UnitGeometry& units, std::uint32_t groups, const CachedEntries& cached) = recorded_entries;

    [[nodiscard]] std::uint32_t translation_pages(const UnitGeometry& units, std::uint32_t logical_pages) const {
        return (logical_pages + pages_of(units) - 1) / pages_of(units);
    }
    [[nodiscard]] static std::uint64_t recorded_entries(const UnitGeometry& units, std::uint32_t groups, const CachedEntries& cached);
};

[[nodiscard]] std::expected<FtlPlan, std::string> plan_demand(const DemandKind& kind, const SsdConfig& config, const Geometry& g);
/// Configuration of blocks, journal and cache.
struct DemandParts {
    PageBlocksConfig blocks;
    PageJournalConfig journal;
    CachedEntries cached;
};
[[nodiscard]] DemandParts demand_parts(const DemandKind& kind, const FtlParts& parts);
[[nodiscard]] WriteMemory memory_of_demand(const DemandKind& kind, const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl);
[[nodiscard]] std::uint64_t dram_of_demand(const SsdConfig& config);
/// A mapping cache that grows with the partition must fit in a checkpoint: the drive keeps the size for which its area of checkpoints was made.
[[nodiscard]] std::expected<void, std::string> settle_demand(SsdConfig& config, std::span<const std::string> asked);

template <class Entries, class Models = NoModels, class... OfEntries>
std::expected<std::unique_ptr<Ftl>, std::string> make_demand(const DemandKind& kind, const FtlParts& parts, const typename Models::Config& of_models,
                                                             const OfEntries&... of_entries) {
    auto policies = block_policies_of(parts.config, parts.plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    const DemandParts of = demand_parts(kind, parts);
    return std::make_unique<PagedFtl<DemandTable<Entries, Models>>>(kind.scheme, parts.plan.logical_pages, of.blocks, parts.array, parts.events,
                                                                    std::move(*policies), of.journal, of.cached, of_models, of_entries...);
}

inline constexpr std::array<std::string_view, 6> demand_keys{"nand.rain",  "nand.one_shot",   "ftl.allocation",
                                                             "ftl.victim", "ftl.moving_ring", "ftl.gc_slice_us"};
/// The entry of one, with what all have.
constexpr Scheme demand_scheme(Scheme own) {
    own.write_memory = [](const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl) {
        return memory_of_demand({}, config, plan, g, ftl);
    };
    own.separates = true;
    own.dram_bytes = dram_of_demand;
    own.settle = settle_demand;
    return own;
}

template <class Entries, class Models = NoModels>
const DemandTable<Entries, Models>& demand_table_of(const Ftl& ftl) {
    return dynamic_cast<const PagedFtl<DemandTable<Entries, Models>>&>(ftl).table();
}
template <std::uint64_t DemandCounters::*member, class Entries, class Models = NoModels>
std::uint64_t demand_counter(const Ftl& ftl) {
    return demand_table_of<Entries, Models>(ftl).counted().*member;
}
/// The counters of all of them, then others.
template <class Entries, class Models = NoModels, class... Others>
constexpr auto demand_counters(Others... others) {
    return std::array{
        Counter{"map_read_hits", "entries", "Map entries looked up for reads, found in DRAM.",
                demand_counter<&DemandCounters::map_read_hits, Entries, Models>, true},
        Counter{"map_read_misses", "entries", "The same, not found: fetched from the flash, unless the page is unmapped.",
                demand_counter<&DemandCounters::map_read_misses, Entries, Models>, true},
        Counter{"map_write_hits", "entries", "Map entries looked up for writes, found in DRAM.",
                demand_counter<&DemandCounters::map_write_hits, Entries, Models>, true},
        Counter{"map_write_misses", "entries", "The same, not found.", demand_counter<&DemandCounters::map_write_misses, Entries, Models>, true},
        Counter{"translation_reads", "pages", "Translation pages read.", demand_counter<&DemandCounters::translation_reads, Entries, Models>, true},
        Counter{"translation_writes", "pages", "Translation pages written, without copies by collections.",
                demand_counter<&DemandCounters::translation_writes, Entries, Models>, true},
        Counter{"double_reads", "pages", "Translation pages that reads of the host waited for.",
                demand_counter<&DemandCounters::read_for_host, Entries, Models>},
        others...};
}

} // namespace flashlab
