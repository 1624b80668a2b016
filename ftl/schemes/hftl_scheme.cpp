#include "ftl/schemes/hftl_scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/little_endian.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/schemes/hftl.h"

namespace flashlab {

namespace {

std::expected<FtlPlan, std::string> plan_hftl(const SsdConfig& config, const Geometry& g) {
    const FtlConfig& f = config.ftl;
    if (f.mapping_unit_pages != 1 && f.mapping_unit_pages != 2 && f.mapping_unit_pages != 4)
        return std::unexpected(fmt::format("ftl.mapping_unit_pages is {}: hftl maps units of 1, 2 or 4 pages", f.mapping_unit_pages));
    if (g.pages_per_block() % f.mapping_unit_pages != 0)
        return std::unexpected(fmt::format("blocks of {} pages are not a whole number of {}-page mapping units: set ftl.mapping_unit_pages to 1",
                                           g.pages_per_block(), f.mapping_unit_pages));
    if (f.striping != 1)
        return std::unexpected(fmt::format("ftl.striping is {}: hftl writes superpages of one channel only; set ftl.striping to 1 (large requests are spread "
                                           "over the groups anyway)",
                                           f.striping));
    if (f.groups > g.dies())
        return std::unexpected(fmt::format("ftl.groups is {}, the geometry has {} dies: a group is a die; set at most {}, or 0 for all", f.groups, g.dies(), g.dies()));
    if (f.reserved_permille >= 900) return std::unexpected(fmt::format("ftl.reserved_permille is {}: at most 899, 50 is the default", f.reserved_permille));
    FtlPlan plan;
    plan.groups = f.groups == 0 ? g.dies() : f.groups;
    plan.logical_page_bytes = f.mapping_unit_pages * g.page_bytes();
    const std::uint32_t blocks_a_group = g.planes_per_die() * g.blocks_per_plane();
    const std::uint32_t blocks = plan.groups * blocks_a_group;
    const std::uint32_t bad = factory_bad_blocks(config.nand, blocks);
    const std::uint32_t least = plan.groups * std::max(4u, 2 * g.planes_per_die());
    if (blocks < bad + 2 * least)
        return std::unexpected(fmt::format("{} blocks in {} groups leave no room beside {} reserved and {} bad ones: use fewer channels or groups, or "
                                           "more blocks",
                                           blocks, plan.groups, least, bad));
    const auto asked = static_cast<std::uint32_t>(std::uint64_t{blocks - bad} * f.reserved_permille / 1000);
    plan.spare_blocks = std::max(asked, least);
    if (plan.spare_blocks > asked)
        plan.warnings.push_back(fmt::format("reserved blocks raised from {} to {}: garbage collection needs {} in each of {} groups", asked, plan.spare_blocks,
                                            least / plan.groups, plan.groups));
    if (blocks_a_group < 64)
        plan.warnings.push_back(fmt::format("only {} blocks in a group: garbage collection will be expensive when the device is full", blocks_a_group));
    const UnitGeometry units{g, f.mapping_unit_pages};
    plan.logical_pages = (blocks - bad - plan.spare_blocks) * units.units_per_block();
    plan.pram_bytes = HftlLayout::make(0, plan.logical_pages, units).bytes;
    return plan;
}

std::expected<std::unique_ptr<Ftl>, std::string> make_hftl(const FtlParts& parts) {
    const auto& [config, plan, array, pram, pram_range, events] = parts;
    if (pram == nullptr) return std::unexpected("hftl keeps its tables in PRAM: configure some (pram.bytes)");
    if (pram_range.bytes < plan.pram_bytes || pram_range.at.value() + pram_range.bytes > pram->cells().size())
        return std::unexpected(fmt::format("hftl needs {} bytes of PRAM, its range has {}: raise pram.bytes", plan.pram_bytes, pram_range.bytes));
    const UnitGeometry units{array.geometry(), config.ftl.mapping_unit_pages};
    const HftlLayout layout = HftlLayout::make(pram_range.at.value(), plan.logical_pages, units);
    const auto header = pram->view(layout.header, HftlHeader::encoded_size);
    const auto magic = load_le<std::uint32_t>(header);
    const auto version = load_le<std::uint16_t>(header.subspan(4));
    if (magic != 0 && magic != HftlHeader::magic) return std::unexpected("the PRAM image holds no hftl tables where they belong: it belongs to another device");
    if (magic != 0 && version != HftlHeader::version)
        return std::unexpected(fmt::format("the PRAM image has hftl tables of version {}, this program knows version {}", version, HftlHeader::version));
    HftlConfig hftl;
    hftl.groups = plan.groups;
    hftl.pages_per_unit = config.ftl.mapping_unit_pages;
    hftl.logical_pages = plan.logical_pages;
    hftl.gc_slice_us = config.ftl.gc_slice_us;
    return std::make_unique<Hftl>(hftl, array, *pram, layout, events, make_victim_policy("greedy", 0));
}


} // namespace

const Scheme& hftl_scheme() {
    static constexpr Scheme scheme{"hftl", "page map in PRAM, data on NAND; durable when answered (Kim et al.)", plan_hftl, make_hftl};
    return scheme;
}

} // namespace flashlab
