#include <array>

#include "ftl/maps/dram_table.h"
#include "ftl/maps/paged_ftl.h"
#include "ftl/schemes/page_plan.h"

namespace flashlab {

namespace {

constexpr std::uint32_t tag = 0x6567'6170; // "page"

std::uint64_t checkpoint_bytes(const SsdConfig& config, const Geometry& g) {
    const UnitGeometry units{g, config.ftl.mapping_unit_pages};
    const OptionSet& options = config.ftl.options;
    const std::uint32_t of_cache = (options[page_option::slc_blocks] != 0 ? 1 : 0) + (options[page_option::slc_dynamic_permille] != 0 ? 1 : 0);
    return PageJournal::checkpoint_bytes_at_most(units, g.dies(), streams_of(config) + of_cache, std::uint64_t{units.units()} * 4);
}

std::expected<FtlPlan, std::string> plan_page_map(const SsdConfig& config, const Geometry& g) {
    if (const auto possible = can_map_units(config, g, "page_map"); !possible) return std::unexpected(possible.error());
    return plan_pages(config, g,
                      {.scheme = "page_map",
                       .has_meta_log = true,
                       .checkpoint_bytes = checkpoint_bytes(config, g),
                       .has_cache = true,
                       .records_in_slc = config.ftl.options[page_option::records_in_slc]});
}

std::expected<std::unique_ptr<Ftl>, std::string> make_page_map(const FtlParts& parts) {
    auto policies = block_policies_of(parts.config, parts.plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    const Geometry& g = parts.array.geometry();
    PageJournalConfig journal;
    journal.area =
        meta_area_of(parts.config, g, parts.plan, checkpoint_bytes(parts.config, g), parts.config.ftl.options[page_option::records_in_slc]);
    journal.interval_blocks = parts.config.ftl.options[page_option::checkpoint_blocks];
    PageBlocksConfig blocks = page_blocks_config(parts.config, parts.plan);
    blocks.closes_at_once = true;
    blocks.stamps_pages = true;
    blocks.set_cache(cache_region_of(parts.config, g, parts.plan.groups));
    journal.shape = {tag, parts.plan.logical_pages, parts.plan.groups * g.planes_per_die() * g.blocks_per_plane()};
    return std::make_unique<PagedFtl<DramTable>>("page_map", parts.plan.logical_pages, blocks, parts.array, parts.events, std::move(*policies),
                                                 journal);
}

WriteMemory memory_of_page_map(const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl) {
    return page_map_memory(config, plan, g, ftl);
}

constexpr std::array<std::string_view, 7> keys{"nand.subpages", "nand.rain",       "nand.one_shot",  "ftl.allocation",
                                               "ftl.victim",    "ftl.moving_ring", "ftl.gc_slice_us"};
constexpr std::array<const Option*, 7> options{&page_option::checkpoint_blocks, &page_option::slc_blocks,   &page_option::slc_dynamic_permille,
                                               &page_option::fold_after_us,     &page_option::fold_at_rest, &page_option::fold_page_ns,
                                               &page_option::records_in_slc};

using PageMap = PagedFtl<DramTable>;
constexpr std::array counters{Counter{"slc_pages", "pages", "Pages of the host that went to the SLC cache.",
                                      [](const Ftl& ftl) { return dynamic_cast<const PageMap&>(ftl).blocks().cached_pages(); }},
                              Counter{"folded_pages", "pages", "Pages copied out of the SLC cache.",
                                      [](const Ftl& ftl) { return dynamic_cast<const PageMap&>(ftl).blocks().folded_pages(); }}};

} // namespace

const Scheme& page_map_scheme() {
    static constexpr Scheme scheme{.name = "page_map",
                                   .idea = "ideal page map in DRAM; checkpoints and spare areas bring it back",
                                   .keys = keys,
                                   .options = options,
                                   .counters = counters,
                                   .plan = plan_page_map,
                                   .make = make_page_map,
                                   .write_memory = memory_of_page_map,
                                   .separates = true};
    return scheme;
}

} // namespace flashlab
