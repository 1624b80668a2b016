#include "ftl/schemes/coftl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ftl/scheme.h"

namespace flashlab {

namespace {

std::uint32_t good_blocks(const SsdConfig& config, const Geometry& g) { return g.blocks() - factory_bad_blocks(config.nand, g.blocks()); }

/// The log holds a version of as many sets as there can be: both the plan and the device come to the same blocks.
MetaArea log_area(const SsdConfig& config, const Geometry& g) {
    const std::uint32_t most_sets = g.blocks() / config.ftl.striping;
    return plan_meta_area(config.nand, g, g.planes(),
                          {.checkpoint_bytes = CoftlVersion::max_bytes(most_sets, most_sets, CoftlShape::pages_of(g.pages_per_block()))});
}

/// The first sets are the swap area: whole ones, so that it is erased like everything else.
std::vector<BlockId> swap_area(const SsdConfig& config, const BlockSets& sets) {
    std::vector<BlockId> area;
    for (std::uint32_t s = 0; s < config.ftl.options[coftl_option::swap_sets]; ++s)
        for (const BlockId block : sets.blocks(SetId{s})) area.push_back(block);
    return area;
}

/// CO9: the log and, if asked for, its mirror.
struct Logs {
    MetaArea log;
    std::optional<MetaArea> mirror;
    [[nodiscard]] bool fit() const { return !log.blocks.empty() && (!mirror || !mirror->blocks.empty()); }
    [[nodiscard]] std::vector<BlockId> blocks() const {
        std::vector<BlockId> all = log.blocks;
        if (mirror) all.insert(all.end(), mirror->blocks.begin(), mirror->blocks.end());
        return all;
    }
};

Logs logs_of(const SsdConfig& config, const Geometry& g) {
    Logs logs{log_area(config, g), std::nullopt};
    if (config.ftl.options[coftl_option::mirrored_log]) logs.mirror = plan_mirror_area(config.nand, g, logs.log);
    return logs;
}

/// What the device is made of: logs, swap area, and the sets of all other blocks.
struct Parts {
    Logs logs;
    std::vector<BlockId> swap;
    BlockSets sets;
};

Parts parts_of(const SsdConfig& config, const Geometry& g) {
    Logs logs = logs_of(config, g);
    std::vector<BlockId> aside = logs.blocks();
    BlockSets all{config.nand, g, config.ftl.striping, aside};
    if (config.ftl.options[coftl_option::swap_sets] == 0 || config.ftl.options[coftl_option::swap_sets] >= all.count())
        return {std::move(logs), {}, std::move(all)};
    std::vector<BlockId> swap = swap_area(config, all);
    aside.insert(aside.end(), swap.begin(), swap.end());
    return {std::move(logs), std::move(swap), BlockSets{config.nand, g, config.ftl.striping, aside}};
}

std::uint32_t free_sets_of(const SsdConfig& config, std::uint32_t spare) {
    if (config.ftl.options[coftl_option::free_sets] != 0)
        return std::clamp(config.ftl.options[coftl_option::free_sets], Coftl::least_spare_sets, spare);
    return std::max(Coftl::least_spare_sets, std::min(256u, spare / 2));
}

/// Of the data cache. With a partitioned DRAM the buffer of the drive stands in for it.
std::uint32_t cache_slots_of(const SsdConfig& config, const FtlPlan& plan) {
    if (config.dram.is_partitioned()) return 0;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(config.ftl.options[coftl_option::cache_bytes] / plan.logical_page_bytes, plan.logical_pages));
}

std::expected<FtlPlan, std::string> plan_coftl(const SsdConfig& config, const Geometry& g) {
    const FtlConfig& f = config.ftl;
    if (f.mapping_unit_pages != 1)
        return std::unexpected(fmt::format("ftl.mapping_unit_pages is {}: a page set of coftl is one page of each of its blocks; set it "
                                           "to 1 and ftl.striping to the blocks of a set",
                                           f.mapping_unit_pages));
    if (config.nand.options.two_plane && g.planes_per_die() % 2 != 0)
        return std::unexpected(
            fmt::format("nand.two_plane is 1, a die has {} planes: two-plane commands need an even number; set one of the two", g.planes_per_die()));
    if (f.striping > CoftlWord::max_index || BlockSets::refusal(config.nand, g, f.striping))
        return std::unexpected(
            config.nand.options.two_plane
                ? fmt::format("ftl.striping is {}: with nand.two_plane a block set of coftl has a pair of blocks on each of half as "
                              "many channels; it must be even, and its half must divide the {} channels",
                              f.striping, g.channels())
                : fmt::format("ftl.striping is {}: a block set of coftl has one block on each of so many channels, it must divide "
                              "the {} channels",
                              f.striping, g.channels()));
    if (f.groups != 0) return std::unexpected("coftl takes block sets from one free list over all channels: leave ftl.groups at 0");
    if (f.reserved_permille >= 900)
        return std::unexpected(fmt::format("ftl.reserved_permille is {}: at most 899, 50 is the default", f.reserved_permille));
    if (g.pages_per_block() < 4 || g.pages_per_block() > CoftlPlace::max_page_sets)
        return std::unexpected(fmt::format("blocks of {} pages: coftl needs 4 to {} (two of a primary set are its summary and replacement pages)",
                                           g.pages_per_block(), CoftlPlace::max_page_sets));
    if (CoftlSummary::bytes(CoftlShape::pages_of(g.pages_per_block())) > g.page_bytes())
        return std::unexpected(fmt::format("the page table of {} virtual pages takes {} bytes, a summary page has {}: use larger pages or fewer of "
                                           "them in a block",
                                           CoftlShape::pages_of(g.pages_per_block()), CoftlSummary::bytes(CoftlShape::pages_of(g.pages_per_block())),
                                           g.page_bytes()));
    if (f.options[coftl_option::swap_sets] == 1 || std::uint64_t{f.options[coftl_option::swap_sets]} * f.striping >= g.blocks() / 2)
        return std::unexpected(fmt::format("coftl.swap_sets is {}: 0 for none, else at least 2 (one is kept empty) and less than half of all",
                                           f.options[coftl_option::swap_sets]));
    const Logs logs = logs_of(config, g);
    const std::vector<BlockId> aside = logs.blocks();
    const std::uint32_t all_sets = BlockSets::count_of(config.nand, g, f.striping, aside);
    const std::uint32_t sets = all_sets - std::min(all_sets, f.options[coftl_option::swap_sets]);
    const std::uint32_t least = Coftl::least_spare_sets + 1;
    if (!logs.fit() || sets < 2 * least)
        return std::unexpected(
            fmt::format("the drive is too small: its {} good blocks make {} sets of {} beside the {}. Give a larger --size or a smaller ftl.striping",
                        good_blocks(config, g), sets, f.striping, logs.mirror ? "log and its mirror" : "log"));
    if (sets > CoftlWord::max_sets) return std::unexpected(fmt::format("{} block sets: at most {}", sets, CoftlWord::max_sets));
    FtlPlan plan;
    plan.groups = g.planes() / f.striping;
    plan.logical_page_bytes = f.striping * g.page_bytes();
    const auto asked = static_cast<std::uint32_t>((std::uint64_t{sets} * f.reserved_permille + 999) / 1000);
    const std::uint32_t spare_sets = std::max(asked, least);
    if (spare_sets > asked)
        plan.warnings.push_back(fmt::format("{} block sets are spare, not {}: merges need them. Not an error", spare_sets, asked));
    plan.spare_blocks = spare_sets * f.striping;
    plan.effective_spare_blocks = (spare_sets - free_sets_of(config, spare_sets)) * f.striping;
    plan.meta_blocks = static_cast<std::uint32_t>(aside.size()) + f.options[coftl_option::swap_sets] * f.striping;
    plan.logical_pages = (sets - spare_sets) * (CoftlShape::pages_of(g.pages_per_block()));
    if (plan.logical_page_bytes > 4096)
        plan.warnings.push_back(fmt::format("a virtual page has {} KiB: smaller writes are merged in the cache, or read, changed and written whole",
                                            plan.logical_page_bytes / 1024));
    return plan;
}

std::expected<std::unique_ptr<Ftl>, std::string> make_coftl(const FtlParts& parts) {
    const SsdConfig& config = parts.config;
    const Geometry& g = parts.array.geometry();
    auto [logs, swap, sets] = parts_of(config, g);
    CoftlConfig coftl;
    coftl.width = config.ftl.striping;
    coftl.virtual_blocks = parts.plan.logical_pages / (CoftlShape::pages_of(g.pages_per_block()));
    coftl.free_sets = free_sets_of(config, sets.count() - coftl.virtual_blocks);
    coftl.cache_slots = cache_slots_of(config, parts.plan);
    coftl.cached_tables = std::clamp(config.ftl.options[coftl_option::cached_tables], 1u, coftl.virtual_blocks);
    if (config.dram.is_partitioned()) { // page tables may have all of it
        const std::uint64_t tables =
            config.dram.size_bytes / (std::uint64_t{CoftlShape::pages_of(g.pages_per_block())} * Coftl::device_bytes_per_place);
        coftl.cached_tables = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tables, 1, coftl.virtual_blocks));
    }
    coftl.wear_period = config.ftl.options[coftl_option::wear_period];
    coftl.swap_area = std::move(swap);
    coftl.mirror = std::move(logs.mirror);
    return std::make_unique<Coftl>(coftl, parts.array, std::move(sets), std::move(logs.log), parts.events);
}

WriteMemory memory_of_coftl(const SsdConfig& config, const FtlPlan& plan, const Geometry&, const Ftl& ftl) {
    // Each replacement set has served other chains since, a few times over; and so has each page of the cache.
    return {WriteMemory::Kind::turnover, 16 * std::uint64_t{ftl.space().spare_blocks} + 4 * std::uint64_t{cache_slots_of(config, plan)} + 64};
}

std::uint64_t dram_of_coftl(const SsdConfig& config) { return config.ftl.options[coftl_option::cache_bytes]; }

constexpr std::array<std::string_view, 1> keys{"nand.two_plane"};
constexpr std::array<const Option*, 6> options{&coftl_option::cache_bytes, &coftl_option::cached_tables, &coftl_option::free_sets,
                                               &coftl_option::swap_sets,   &coftl_option::mirrored_log,  &coftl_option::wear_period};
constexpr std::array counters{Counter{"switch_merges", "merges", "Chains whose last block set held all that was valid and became the primary.",
                                      [](const Ftl& ftl) { return dynamic_cast<const Coftl&>(ftl).coftl_counters().switches; }, true},
                              Counter{"full_merges", "merges", "Chains whose valid pages were copied into a new block set.",
                                      [](const Ftl& ftl) { return dynamic_cast<const Coftl&>(ftl).coftl_counters().merges; }, true}};

} // namespace

const Scheme& coftl_scheme() {
    static constexpr Scheme scheme{.name = "coftl",
                                   .idea = "chains of striped block sets behind a cache of large pages (Chang et al.)",
                                   .keys = keys,
                                   .options = options,
                                   .counters = counters,
                                   .plan = plan_coftl,
                                   .make = make_coftl,
                                   .write_memory = memory_of_coftl,
                                   .dram_bytes = dram_of_coftl};
    return scheme;
}

} // namespace flashlab
