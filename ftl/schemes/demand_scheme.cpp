#include "ftl/schemes/demand_scheme.h"

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr std::uint32_t tag = 0x6c74'6664; // "dftl"

// What each frontier leaves to those that must go on when it cannot (ftl/DESIGN-dftl.md, "Reserve").
constexpr FrontierRule data_rule{.writes_keep_free = 3, .copies_keep_free = 1, .columns = 0};
constexpr FrontierRule map_rule{.writes_keep_free = 1, .copies_keep_free = 0, .columns = 1};
constexpr std::uint32_t spare_blocks_a_group = 5;

CachedEntries cached_entries(const DemandKind& kind, const SsdConfig& config, const UnitGeometry& units) {
    const OptionSet& options = config.ftl.options;
    CachedEntries of;
    if (kind.entry_bytes != nullptr) of.bytes_each = options[*kind.entry_bytes];
    of.bytes_a_page = kind.page_bytes == nullptr ? 0 : options[*kind.page_bytes];
    of.written_alone = kind.batches != nullptr && !options[*kind.batches];
    of.fetched_for_writes = kind.fetches != nullptr && options[*kind.fetches];
    const std::uint64_t map_bytes = std::uint64_t{units.units()} * 4;
    const std::uint64_t asked = options[demand_option::mapping_cache_bytes];
    const std::uint64_t entries = (asked == 0 ? map_bytes / 32 : asked) / of.bytes_each;
    const std::uint64_t least = 4 + of.bytes_a_page / of.bytes_each;
    of.count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(entries, least, std::max<std::uint64_t>(least, units.units())));
    return of;
}

std::uint32_t groups_of(const SsdConfig& config, const Geometry& g) {
    return config.ftl.groups == 0 ? g.dies() : std::min(config.ftl.groups, g.dies());
}

std::uint64_t checkpoint_bytes(const DemandKind& kind, const SsdConfig& config, const Geometry& g) {
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const std::uint32_t groups = groups_of(config, g);
    return PageJournal::checkpoint_bytes_at_most(units, groups, 1 + streams_of(config),
                                                 kind.recorded(units, groups, cached_entries(kind, config, units)));
}

} // namespace

std::uint64_t DemandKind::recorded_entries(const UnitGeometry& units, std::uint32_t groups, const CachedEntries& cached) {
    return TranslationPages::checkpoint_bytes_at_most(units, groups, DemandKind{}.translation_pages(units, units.units()), cached.count);
}

std::expected<FtlPlan, std::string> plan_demand(const DemandKind& kind, const SsdConfig& config, const Geometry& g) {
    if (const auto possible = can_map_units(config, g, kind.scheme); !possible) return std::unexpected(possible.error());
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const std::uint32_t groups = groups_of(config, g);
    // Each group's share of the translation pages, rounded up to a block, and the block that is open.
    const std::uint64_t a_group = (kind.translation_pages(units, units.units()) + groups - 1) / groups;
    const std::uint64_t blocks_a_group = (a_group + units.units_per_block() - 1) / units.units_per_block();
    return plan_pages(config, g,
                      {.scheme = kind.scheme,
                       .spare_a_group = spare_blocks_a_group + 1,
                       .has_meta_log = true,
                       .checkpoint_bytes = checkpoint_bytes(kind, config, g),
                       .own_units = groups * blocks_a_group * units.units_per_block(),
                       .frontiers = {data_rule, map_rule}});
}

DemandParts demand_parts(const DemandKind& kind, const FtlParts& parts) {
    const auto& [config, plan, array, pram, pram_range, events] = parts;
    const Geometry& g = array.geometry();
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const OptionSet& options = config.ftl.options;
    DemandParts of;
    of.journal.area = meta_area_of(config, g, plan, checkpoint_bytes(kind, config, g));
    of.journal.interval_blocks = options[page_option::checkpoint_blocks];
    of.journal.shape = {tag, plan.logical_pages, plan.groups * g.planes_per_die() * g.blocks_per_plane()};
    of.blocks = page_blocks_config(config, plan);
    of.blocks.closes_at_once = true;
    of.blocks.stamps_pages = true;
    of.blocks.frontiers = {data_rule, map_rule};
    of.blocks.spare_blocks_a_group = spare_blocks_a_group;
    of.blocks.valid_units_at_most += kind.translation_pages(units, plan.logical_pages);
    of.cached = cached_entries(kind, config, units);
    return of;
}

WriteMemory memory_of_demand(const DemandKind& kind, const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl) {
    if (page_groups_of(config) != 0) return {}; // where pages lie depends on the order of collections
    const std::uint32_t pages = kind.translation_pages(UnitGeometry{g, config.ftl.mapping_unit_pages}, plan.logical_pages);
    return page_map_memory(config, plan, g, ftl, 2, 2 * std::uint64_t{pages}); // a translation page and its stale version
}

std::uint64_t dram_of_demand(const SsdConfig& config) {
    return config.dram.is_partitioned() ? 0 : config.ftl.options[demand_option::mapping_cache_bytes];
}

std::expected<void, std::string> settle_demand(SsdConfig& config, std::span<const std::string> asked) {
    const DramConfig& dram = config.dram;
    if (!dram.is_partitioned()) return {};
    const std::uint64_t cache = config.ftl.options[demand_option::mapping_cache_bytes];
    if (cache < dram.size_bytes && std::ranges::find(asked, "ftl.mapping_cache_bytes") != asked.end())
        return std::unexpected(
            fmt::format("ftl.mapping_cache_bytes = {} beside dram.partition = {}, which divides dram.size = {} itself: leave it out, or say "
                        "dram.partition=none",
                        cache, dram.partition, dram.size_bytes));
    config.ftl.options.set(demand_option::mapping_cache_bytes, std::max(cache, dram.size_bytes));
    return {};
}

} // namespace flashlab
