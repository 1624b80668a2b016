#include "ftl/schemes/dftl.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ftl/schemes/page_plan.h"

namespace flashlab {

namespace {

constexpr std::uint32_t tag = 0x6c74'6664; // "dftl"

// What each frontier leaves to those that must go on when it cannot (ftl/DESIGN-dftl.md, "Reserve").
constexpr FrontierRule data_rule{.writes_keep_free = 3, .copies_keep_free = 1, .columns = 0};
constexpr FrontierRule map_rule{.writes_keep_free = 1, .copies_keep_free = 0, .columns = 1};
constexpr std::uint32_t spare_blocks_a_group = 5;

std::uint32_t cached_entries(const SsdConfig& config, const UnitGeometry& units) {
    const std::uint64_t map_bytes = std::uint64_t{units.units()} * 4;
    const std::uint64_t asked = config.ftl.options[dftl_option::mapping_cache_bytes];
    const std::uint64_t entries = (asked == 0 ? map_bytes / 32 : asked) / config.ftl.options[dftl_option::mapping_entry_bytes];
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(entries, 4, units.units()));
}

std::uint32_t groups_of(const SsdConfig& config, const Geometry& g) {
    return config.ftl.groups == 0 ? g.dies() : std::min(config.ftl.groups, g.dies());
}

std::uint64_t checkpoint_bytes(const SsdConfig& config, const Geometry& g) {
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const std::uint32_t groups = groups_of(config, g);
    return PageJournal::checkpoint_bytes_at_most(units, groups, 1 + streams_of(config),
                                                 Dftl::checkpoint_bytes_at_most(units, groups, cached_entries(config, units)));
}

std::expected<FtlPlan, std::string> plan_dftl(const SsdConfig& config, const Geometry& g) {
    if (const auto possible = can_map_units(config, g, "dftl"); !possible) return std::unexpected(possible.error());
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const std::uint32_t groups = groups_of(config, g);
    // Each group's share of the translation pages, rounded up to a block, and the block that is open.
    const std::uint64_t a_group = (Dftl::translation_pages(units, units.units()) + groups - 1) / groups;
    const std::uint64_t blocks_a_group = (a_group + units.units_per_block() - 1) / units.units_per_block();
    return plan_pages(config, g,
                      {.scheme = "dftl",
                       .spare_a_group = spare_blocks_a_group + 1,
                       .has_meta_log = true,
                       .checkpoint_bytes = checkpoint_bytes(config, g),
                       .own_units = groups * blocks_a_group * units.units_per_block(),
                       .frontiers = {data_rule, map_rule}});
}

std::expected<std::unique_ptr<Ftl>, std::string> make_dftl(const FtlParts& parts) {
    auto policies = block_policies_of(parts.config, parts.plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    const Geometry& g = parts.array.geometry();
    const UnitGeometry units{g, parts.config.ftl.mapping_unit_pages};
    PageJournalConfig journal;
    journal.area = meta_area_of(parts.config, g, parts.plan, checkpoint_bytes(parts.config, g));
    journal.interval_blocks = parts.config.ftl.options[page_option::checkpoint_blocks];
    journal.shape = {tag, parts.plan.logical_pages, parts.plan.groups * g.planes_per_die() * g.blocks_per_plane()};
    PageBlocksConfig blocks = page_blocks_config(parts.config, parts.plan);
    blocks.closes_at_once = true;
    blocks.stamps_pages = true;
    blocks.frontiers = {data_rule, map_rule};
    blocks.spare_blocks_a_group = spare_blocks_a_group;
    blocks.valid_units_at_most += Dftl::translation_pages(units, parts.plan.logical_pages);
    const OptionSet& options = parts.config.ftl.options;
    return std::make_unique<Dftl>(
        blocks, journal,
        CachedEntries{cached_entries(parts.config, units), options[dftl_option::mapping_entry_bytes], options[dftl_option::fetch_on_write_miss]},
        parts.array, parts.events, std::move(*policies));
}

WriteMemory memory_of_dftl(const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl) {
    const std::uint32_t pages = Dftl::translation_pages(UnitGeometry{g, config.ftl.mapping_unit_pages}, plan.logical_pages);
    return page_map_memory(config, plan, g, ftl, 2, 2 * std::uint64_t{pages}); // a translation page and its stale version
}

std::uint64_t dram_of_dftl(const SsdConfig& config) {
    return config.dram.is_partitioned() ? 0 : config.ftl.options[dftl_option::mapping_cache_bytes];
}

/// A mapping cache that grows with the partition must fit in a checkpoint: the drive keeps the size for which its area of checkpoints was made.
std::expected<void, std::string> settle_dftl(SsdConfig& config, std::span<const std::string> asked) {
    const DramConfig& dram = config.dram;
    if (!dram.is_partitioned()) return {};
    const std::uint64_t cache = config.ftl.options[dftl_option::mapping_cache_bytes];
    if (cache < dram.size_bytes && std::ranges::find(asked, "ftl.mapping_cache_bytes") != asked.end())
        return std::unexpected(
            fmt::format("ftl.mapping_cache_bytes = {} beside dram.partition = {}, which divides dram.size = {} itself: leave it out, or say "
                        "dram.partition=none",
                        cache, dram.partition, dram.size_bytes));
    config.ftl.options.set(dftl_option::mapping_cache_bytes, std::max(cache, dram.size_bytes));
    return {};
}

constexpr std::array<std::string_view, 5> keys{"nand.one_shot", "ftl.allocation", "ftl.victim", "ftl.moving_ring", "ftl.gc_slice_us"};
constexpr std::array<const Option*, 4> options{&page_option::checkpoint_blocks, &dftl_option::mapping_cache_bytes, &dftl_option::mapping_entry_bytes,
                                               &dftl_option::fetch_on_write_miss};

template <std::uint64_t DftlCounters::*member>
std::uint64_t counted(const Ftl& ftl) {
    return dynamic_cast<const Dftl&>(ftl).dftl_counters().*member;
}
constexpr std::array counters{
    Counter{"map_read_hits", "entries", "Map entries looked up for reads, found in DRAM.", counted<&DftlCounters::map_read_hits>, true},
    Counter{"map_read_misses", "entries", "The same, fetched from the flash.", counted<&DftlCounters::map_read_misses>, true},
    Counter{"map_write_hits", "entries", "Map entries looked up for writes, found in DRAM.", counted<&DftlCounters::map_write_hits>, true},
    Counter{"map_write_misses", "entries", "The same, not found.", counted<&DftlCounters::map_write_misses>, true},
    Counter{"translation_reads", "pages", "Translation pages read.", counted<&DftlCounters::translation_reads>, true},
    Counter{"translation_writes", "pages", "Translation pages written, without copies by collections.", counted<&DftlCounters::translation_writes>,
            true}};

} // namespace

const Scheme& dftl_scheme() {
    static constexpr Scheme scheme{.name = "dftl",
                                   .idea = "page map on flash, the entries in use cached in DRAM (Gupta et al.)",
                                   .keys = keys,
                                   .options = options,
                                   .counters = counters,
                                   .plan = plan_dftl,
                                   .make = make_dftl,
                                   .write_memory = memory_of_dftl,
                                   .separates = true,
                                   .dram_bytes = dram_of_dftl,
                                   .settle = settle_dftl};
    return scheme;
}

} // namespace flashlab
