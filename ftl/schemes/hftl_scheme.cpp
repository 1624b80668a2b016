#include <array>

#include <fmt/format.h>

#include "base/little_endian.h"
#include "ftl/maps/paged_ftl.h"
#include "ftl/maps/pram_table.h"
#include "ftl/schemes/page_plan.h"

namespace flashlab {

namespace {

constexpr std::uint32_t paced_from_spare =
    1; ///< what one die's collection is to commit when its copies have ended, the commits of all others wait for

std::expected<FtlPlan, std::string> plan_hftl(const SsdConfig& config, const Geometry& g) {
    auto plan = plan_pages(config, g, {.scheme = "hftl", .paced_from_spare = paced_from_spare});
    if (!plan) return plan;
    plan->pram_bytes = HftlLayout::make(0, plan->logical_pages, UnitGeometry{g, config.ftl.mapping_unit_pages}, streams_of(config)).bytes;
    return plan;
}

std::expected<std::unique_ptr<Ftl>, std::string> make_hftl(const FtlParts& parts) {
    const auto& [config, plan, array, pram, pram_range, events] = parts;
    if (pram == nullptr) return std::unexpected("hftl keeps its tables in PRAM: configure some (pram.bytes)");
    if (pram_range.bytes < plan.pram_bytes || pram_range.at.value() + pram_range.bytes > pram->cells().size())
        return std::unexpected(fmt::format("hftl needs {} bytes of PRAM, its range has {}: raise pram.bytes", plan.pram_bytes, pram_range.bytes));
    const UnitGeometry units{array.geometry(), config.ftl.mapping_unit_pages};
    const HftlLayout layout = HftlLayout::make(pram_range.at.value(), plan.logical_pages, units, streams_of(config));
    const auto header = pram->view(layout.header, HftlHeader::encoded_size);
    const auto magic = load_le<std::uint32_t>(header);
    const auto version = load_le<std::uint16_t>(header.subspan(4));
    if (magic != 0 && magic != HftlHeader::magic)
        return std::unexpected("the PRAM image holds no hftl tables where they belong: it belongs to another device");
    if (magic != 0 && version != HftlHeader::version)
        return std::unexpected(
            fmt::format("the PRAM image has hftl tables of version {}, this program knows version {}", version, HftlHeader::version));
    auto policies = block_policies_of(config, plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    PageBlocksConfig blocks = page_blocks_config(config, plan);
    blocks.paced_from_spare = paced_from_spare;
    return std::make_unique<PagedFtl<PramTable>>("hftl", plan.logical_pages, blocks, array, events, std::move(*policies), *pram, layout);
}

WriteMemory memory_of_hftl(const SsdConfig& config, const FtlPlan& plan, const Geometry& g, const Ftl& ftl) {
    return page_map_memory(config, plan, g, ftl);
}

constexpr std::array<std::string_view, 6> keys{"nand.subpages", "nand.rain", "nand.one_shot", "ftl.allocation", "ftl.victim", "ftl.gc_slice_us"};

} // namespace

const Scheme& hftl_scheme() {
    static constexpr Scheme scheme{.name = "hftl",
                                   .idea = "page map in PRAM, data on NAND; durable when answered (Kim et al.)",
                                   .keys = keys,
                                   .plan = plan_hftl,
                                   .make = make_hftl,
                                   .write_memory = memory_of_hftl,
                                   .separates = true};
    return scheme;
}

} // namespace flashlab
