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

[[nodiscard]] std::expected<FtlPlan, std::string> plan_demand(std::string_view scheme, const SsdConfig& config, const Geometry& g);
/// Configuration of blocks, journal and cache.
struct DemandParts {
    PageBlocksConfig blocks;
    PageJournalConfig journal;
    CachedEntries cached;
};
[[nodiscard]] DemandParts demand_parts(const FtlParts& parts);
[[nodiscard]] WriteMemory memory_of_demand(const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl);
[[nodiscard]] std::uint64_t dram_of_demand(const SsdConfig& config);
/// A mapping cache that grows with the partition must fit in a checkpoint: the drive keeps the size for which its area of checkpoints was made.
[[nodiscard]] std::expected<void, std::string> settle_demand(SsdConfig& config, std::span<const std::string> asked);

template <class Entries>
std::expected<std::unique_ptr<Ftl>, std::string> make_demand(std::string_view scheme, const FtlParts& parts) {
    auto policies = block_policies_of(parts.config, parts.plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    const DemandParts of = demand_parts(parts);
    return std::make_unique<PagedFtl<DemandTable<Entries>>>(scheme, parts.plan.logical_pages, of.blocks, parts.array, parts.events,
                                                            std::move(*policies), of.journal, of.cached);
}

inline constexpr std::array<std::string_view, 5> demand_keys{"nand.one_shot", "ftl.allocation", "ftl.victim", "ftl.moving_ring", "ftl.gc_slice_us"};
inline constexpr std::array<const Option*, 4> demand_options{&page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes,
                                                             &demand_option::mapping_entry_bytes, &demand_option::fetch_on_write_miss};

template <class Entries>
const DemandTable<Entries>& demand_table_of(const Ftl& ftl) {
    return dynamic_cast<const PagedFtl<DemandTable<Entries>>&>(ftl).table();
}
template <class Entries, std::uint64_t DemandCounters::*member>
std::uint64_t demand_counter(const Ftl& ftl) {
    return demand_table_of<Entries>(ftl).counted().*member;
}
template <class Entries>
inline constexpr std::array demand_counters{
    Counter{"map_read_hits", "entries", "Map entries looked up for reads, found in DRAM.", demand_counter<Entries, &DemandCounters::map_read_hits>,
            true},
    Counter{"map_read_misses", "entries", "The same, fetched from the flash.", demand_counter<Entries, &DemandCounters::map_read_misses>, true},
    Counter{"map_write_hits", "entries", "Map entries looked up for writes, found in DRAM.", demand_counter<Entries, &DemandCounters::map_write_hits>,
            true},
    Counter{"map_write_misses", "entries", "The same, not found.", demand_counter<Entries, &DemandCounters::map_write_misses>, true},
    Counter{"translation_reads", "pages", "Translation pages read.", demand_counter<Entries, &DemandCounters::translation_reads>, true},
    Counter{"translation_writes", "pages", "Translation pages written, without copies by collections.",
            demand_counter<Entries, &DemandCounters::translation_writes>, true}};

} // namespace flashlab
