#include "ftl/schemes/page_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ftl/blocks/closed_form.h"
#include "ftl/blocks/separation_policies.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/schemes/demand_options.h"

namespace flashlab {

std::expected<void, std::string> can_map_units(const SsdConfig& config, const Geometry& g, std::string_view scheme) {
    const FtlConfig& f = config.ftl;
    if (f.mapping_unit_pages != 1 && f.mapping_unit_pages != 2 && f.mapping_unit_pages != 4)
        return std::unexpected(fmt::format("ftl.mapping_unit_pages is {}: {} maps units of 1, 2 or 4 pages", f.mapping_unit_pages, scheme));
    if (g.pages_per_block() % f.mapping_unit_pages != 0)
        return std::unexpected(fmt::format("blocks of {} pages are not a whole number of {}-page mapping units: set ftl.mapping_unit_pages to 1",
                                           g.pages_per_block(), f.mapping_unit_pages));
    if (f.striping != 1)
        return std::unexpected(
            fmt::format("ftl.striping is {}: {} writes superpages of one channel only; set ftl.striping to 1 (large requests are spread "
                        "over the groups anyway)",
                        f.striping, scheme));
    if (f.groups > g.dies())
        return std::unexpected(
            fmt::format("ftl.groups is {}, the geometry has {} dies: a group is a die; set at most {}, or 0 for all", f.groups, g.dies(), g.dies()));
    if (const auto allocation = Allocation::parse(f.allocation); !allocation) return std::unexpected(allocation.error());
    if (f.reserved_permille >= 900)
        return std::unexpected(fmt::format("ftl.reserved_permille is {}: at most 899, 50 is the default", f.reserved_permille));
    return {};
}

namespace {

/// A collection may end a page of the chip early for each stream whose pages its victim holds. A block can hold pages of all of them: a stream is a
/// wish, and where it has no room its pages go to another. Pages of the block that this can take:
std::uint64_t padding_of_block(const NandConfig& nand, std::uint32_t streams) { return std::uint64_t{nand.options.subpages - 1} * streams; }
std::uint64_t pages_of_block(const NandConfig& nand) { return std::uint64_t{nand.geometry.pages_per_block} * (nand.rain == 0 ? 1 : nand.rain - 1); }

/// Blocks of a group that padding can take: so many pages in each of its blocks, which no collection gains. At most all: padding_fits().
std::uint32_t padded_blocks_a_group(const NandConfig& nand, std::uint32_t streams) {
    const GeometryConfig& g = nand.geometry;
    const std::uint64_t blocks = std::uint64_t{g.planes_per_die} * g.blocks_per_plane, pages_a_block = pages_of_block(nand);
    return static_cast<std::uint32_t>(std::min(blocks, (blocks * padding_of_block(nand, streams) + pages_a_block - 1) / pages_a_block));
}

/// Padding takes a share of each block, whatever the drive's size. With half of them no drive is large enough.
std::expected<void, std::string> padding_fits(const SsdConfig& config, std::uint32_t streams) {
    const std::uint64_t padding = padding_of_block(config.nand, streams), half = pages_of_block(config.nand) / 2;
    if (padding < half) return {};
    const std::uint64_t most = (half - 1) / (config.nand.options.subpages - 1);
    const bool are_of_host = streams_of(config) > 1 && page_groups_of(config) == 0;
    if (are_of_host && most < 2)
        return std::unexpected(fmt::format("{} streams of data are too many for blocks of {} pages, since each may leave {} of them as padding: set "
                                           "ftl.separation to none, nand.subpages to 1, or a larger nand.pages_per_block",
                                           streams, pages_of_block(config.nand), config.nand.options.subpages - 1));
    return std::unexpected(fmt::format(
        "{} streams of data are too many: each may leave {} of the {} pages of a block as padding, and {} are half of it. With blocks of so many "
        "pages at most {} are possible{}, with nand.subpages = 1 more",
        streams, config.nand.options.subpages - 1, pages_of_block(config.nand), padding, most, are_of_host ? " (ftl.host_streams)" : ""));
}

/// What is left of the reserve when the ring, the scheme's own pages, open superblocks and what is kept free are taken off, and what that costs.
void plan_spare(FtlPlan& plan, const PagePlanRequest& request, std::uint32_t open_streams, const UnitGeometry& units, std::uint32_t good_blocks,
                std::uint32_t own) {
    const std::uint32_t for_data = plan.spare_blocks - std::min(plan.spare_blocks, plan.meta_blocks + own);
    PageBlocksConfig config;
    config.groups = plan.groups;
    config.frontiers = request.frontiers;
    config.streams = open_streams;
    config.paced_from_spare = request.paced_from_spare;
    const std::uint64_t for_data_units = std::uint64_t{for_data} * units.units_per_block();
    plan.is_paced = config.is_paced(units, for_data_units);
    const std::uint32_t halves = config.half_blocks_held(units, for_data_units);
    const std::uint32_t held = (halves * plan.groups + 1) / 2;
    plan.effective_spare_blocks = for_data - std::min(for_data, held);
    const double logical = good_blocks - plan.spare_blocks;
    plan.closed_form_waf = greedy_amplification(1 + for_data / logical, units.units_per_block());
    // With less than one block a group the form would say a number of which no digit means anything.
    if (plan.effective_spare_blocks >= plan.groups)
        plan.expected_waf = greedy_amplification(1 + plan.effective_spare_blocks / logical, units.units_per_block());
}

/// Each page costs its share of the parity of its row, too.
void add_parity(FtlPlan& plan, std::uint32_t rain) {
    if (rain == 0) return;
    plan.closed_form_waf *= rain / (rain - 1.0);
    plan.expected_waf *= rain / (rain - 1.0);
}

/// Of neighbouring pages, and one for what is in order.
std::uint32_t own_streams_of(const SsdConfig& config) {
    const std::uint32_t groups = page_groups_of(config);
    return groups == 0 ? 0 : groups + 1;
}
/// A group of pages has a superblock open on one die.
std::uint32_t seldom_open_of(const SsdConfig& config, std::uint32_t dies) { return page_groups_of(config) - open_logs_of(config, dies); }

} // namespace

CacheRegion cache_region_of(const SsdConfig& config, const Geometry& g, std::uint32_t groups) {
    const std::uint32_t planes = groups * g.planes_per_die(), asked = config.ftl.options[page_option::slc_blocks];
    const Media media{config.nand};
    CacheRegion region{.blocks_a_plane = (asked + planes - 1) / planes,
                       .units_a_block = media.of(CellType::slc).pages / config.ftl.mapping_unit_pages,
                       .fold_after = std::chrono::microseconds{config.ftl.options[page_option::fold_after_us]},
                       .folds_at_rest = config.ftl.options[page_option::fold_at_rest],
                       .fold_page = Duration{config.ftl.options[page_option::fold_page_ns]}};
    const std::uint64_t others = g.blocks_per_plane() - std::min(g.blocks_per_plane(), region.blocks_a_plane);
    region.dynamic_blocks_a_group =
        static_cast<std::uint32_t>(others * config.ftl.options[page_option::slc_dynamic_permille] / 1000) * g.planes_per_die();
    return region;
}

std::expected<FtlPlan, std::string> plan_pages(const SsdConfig& config, const Geometry& g, const PagePlanRequest& request) {
    const FtlConfig& f = config.ftl;
    if (const auto possible = can_map_units(config, g, request.scheme); !possible) return std::unexpected(possible.error());
    if (const auto policies = block_policies_of(config, 0); !policies) return std::unexpected(policies.error());
    FtlPlan plan;
    plan.groups = f.groups == 0 ? g.dies() : f.groups;
    plan.logical_page_bytes = f.mapping_unit_pages * g.page_bytes();
    const CacheRegion cache = request.has_cache ? cache_region_of(config, g, plan.groups) : CacheRegion{};
    const bool has_cache = cache.blocks_a_plane + cache.dynamic_blocks_a_group != 0;
    if (const Media media{config.nand}; (has_cache || request.records_in_slc) && (media.own() == CellType::slc || !media.has(CellType::slc)))
        return std::unexpected(
            fmt::format("{}: the chips have no mode SLC; set nand.slc_page_program_ns to its program time, on cells of several bits",
                        request.records_in_slc ? page_option::records_in_slc.key : "ftl.slc_*"));
    if (cache.blocks_a_plane >= g.blocks_per_plane())
        return std::unexpected(fmt::format("ftl.slc_blocks leaves none of {} blocks a plane: set fewer", g.blocks_per_plane()));
    if (has_cache && f.wear_threshold != 0)
        return std::unexpected("ftl.slc_* and ftl.wear_threshold: blocks of two modes wear apart, and nothing levels them; set one of the two to 0");
    const std::uint32_t blocks_a_group = g.planes_per_die() * (g.blocks_per_plane() - cache.blocks_a_plane);
    const std::uint32_t blocks = plan.groups * blocks_a_group;
    const std::uint32_t bad = factory_bad_blocks(config.nand, plan.groups * g.planes_per_die() * g.blocks_per_plane());
    const UnitGeometry units{g, f.mapping_unit_pages};
    if (request.has_meta_log) {
        const MetaArea area = meta_area_of(config, g, plan, request.checkpoint_bytes, request.records_in_slc);
        if (area.blocks.empty())
            return std::unexpected(
                fmt::format("{} needs blocks for its checkpoints, and planes of {} blocks have none to spare: give a larger --size or fewer channels",
                            request.scheme, g.blocks_per_plane()));
        plan.meta_blocks = static_cast<std::uint32_t>(area.all().size());
    }
    const auto own = static_cast<std::uint32_t>((request.own_units + units.units_per_block() - 1) / units.units_per_block());
    const std::uint32_t streams = streams_of(config), open_streams = streams - seldom_open_of(config, plan.groups);
    if (const auto fits = padding_fits(config, streams); !fits) return std::unexpected(fits.error());
    const std::uint64_t least_a_group = std::uint64_t{std::max(request.spare_a_group, 2 * g.planes_per_die())} +
                                        std::uint64_t{open_streams - 1} * g.planes_per_die() + padded_blocks_a_group(config.nand, streams);
    const std::uint64_t least = plan.groups * least_a_group + plan.meta_blocks + own;
    if (blocks < bad + least + plan.groups * least_a_group)
        return std::unexpected(fmt::format(
            "the drive is too small for {} independent dies: of its {} blocks {} must be spare and {} are bad. Give a larger --size, or fewer "
            "channels{}",
            plan.groups, blocks, least, bad,
            open_streams == 1 ? ""
                              : fmt::format("; {} {} holds {} superblocks open in each group, none holds one",
                                            page_groups_of(config) == 0 ? "ftl.separation" : "learnedftl.groups beside ftl.separation", f.separation,
                                            open_streams)));
    const auto asked = static_cast<std::uint32_t>(std::uint64_t{blocks - bad} * f.reserved_permille / 1000);
    plan.spare_blocks = std::max(asked, static_cast<std::uint32_t>(least)); // fewer than `blocks`
    if (plan.spare_blocks > asked)
        plan.warnings.push_back(fmt::format("{} blocks are spare, {} more than ftl.reserved_permille asks: garbage collection needs {} on each of {} "
                                            "independent dies{}. Not an error",
                                            plan.spare_blocks, plan.spare_blocks - asked, least_a_group, plan.groups,
                                            plan.meta_blocks + own == 0 ? "" : fmt::format(", checkpoints and maps {}", plan.meta_blocks + own)));
    plan.logical_pages = (blocks - bad - plan.spare_blocks) * units.units_per_block();
    plan_spare(plan, request, open_streams, units, blocks - bad, own);
    add_parity(plan, config.nand.rain);
    return plan;
}

MetaArea meta_area_of(const SsdConfig& config, const Geometry& geometry, const FtlPlan& plan, std::uint64_t checkpoint_bytes, bool records_in_slc) {
    return plan_meta_area(config.nand, geometry, plan.groups * geometry.planes_per_die(),
                          {.checkpoint_bytes = checkpoint_bytes, .in_slc = records_in_slc},
                          config.ftl.moving_ring ? RingPlace::moves : RingPlace::fixed);
}

PageBlocksConfig page_blocks_config(const SsdConfig& config, const FtlPlan& plan) {
    PageBlocksConfig c;
    c.groups = plan.groups;
    c.allocation = *Allocation::parse(config.ftl.allocation);
    c.pages_per_unit = config.ftl.mapping_unit_pages;
    c.valid_units_at_most = plan.logical_pages;
    c.spare_blocks_a_group += padded_blocks_a_group(config.nand, streams_of(config));
    c.gc_slice_us = config.ftl.gc_slice_us;
    c.wear_threshold = config.ftl.wear_threshold;
    c.streams = streams_of(config);
    c.own_streams = own_streams_of(config);
    c.seldom_open = seldom_open_of(config, plan.groups);
    return c;
}

std::uint32_t page_groups_of(const SsdConfig& config) {
    return config.ftl.scheme == "learnedftl" ? config.ftl.options[learnedftl_option::groups] : 0;
}

std::uint32_t open_logs_of(const SsdConfig& config, std::uint32_t dies) { return (page_groups_of(config) + dies - 1) / dies; }

std::uint32_t streams_of(const SsdConfig& config) {
    const SeparationPolicyEntry* found = find_named(separation_policies(), config.ftl.separation);
    return own_streams_of(config) + (found == nullptr ? 1 : found->streams_of(config.ftl.options));
}

std::expected<BlockPolicies, std::string> block_policies_of(const SsdConfig& config, std::uint32_t logical_pages) {
    BlockPolicies policies;
    policies.victim = make_victim_policy(config.ftl.victim, config.ftl.options, config.nand.seed);
    if (!policies.victim)
        return std::unexpected(
            fmt::format("unknown ftl.victim '{}'; there are: {}", config.ftl.victim, fmt::join(names_of(victim_policies()), ", ")));
    const SeparationPolicyEntry* separation = find_named(separation_policies(), config.ftl.separation);
    if (separation == nullptr)
        return std::unexpected(
            fmt::format("unknown ftl.separation '{}'; there are: {}", config.ftl.separation, fmt::join(names_of(separation_policies()), ", ")));
    policies.separation = separation->make(config.ftl.options, logical_pages);
    return policies;
}

WriteMemory page_map_memory(const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl, std::uint32_t frontiers,
                            std::uint64_t map_units) {
    // What collection keeps free in each group, and its open superblocks.
    const std::uint64_t kept = std::uint64_t{plan.groups} * (std::uint64_t{g.planes_per_die()} + frontiers + streams_of(config));
    const std::uint64_t free = ftl.space().free_blocks;
    const std::uint64_t units = (free - std::min(free, kept)) * UnitGeometry{g, config.ftl.mapping_unit_pages}.units_per_block();
    return {WriteMemory::Kind::history, units - std::min(units, map_units)};
}

} // namespace flashlab
