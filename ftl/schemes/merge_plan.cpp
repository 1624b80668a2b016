#include "ftl/schemes/merge_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace flashlab {

namespace {

std::expected<void, std::string> refuse(const MergeKind& kind, const FtlConfig& f, const Geometry& g) {
    const std::uint32_t interleaving = f.options[merge_option::interleaving], log_blocks = f.options[merge_option::log_blocks];
    if (f.mapping_unit_pages != 1)
        return std::unexpected(
            fmt::format("ftl.mapping_unit_pages is {}: {} maps blocks, and pages inside log blocks; set it to 1", f.mapping_unit_pages, kind.name));
    if (f.striping != 1)
        return std::unexpected(fmt::format(
            "ftl.striping is {}: {} gives neighbouring logical blocks to different channels instead; set ftl.striping to 1", f.striping, kind.name));
    if (f.groups > g.dies())
        return std::unexpected(
            fmt::format("ftl.groups is {}, the geometry has {} dies: a group is a die; set at most {}, or 0 for all", f.groups, g.dies(), g.dies()));
    if (kind.interleaves && (interleaving == 0 || interleaving > g.channels()))
        return std::unexpected(
            fmt::format("ftl.interleaving is {}: {} gives neighbouring pages to so many channels in turn, and there are {} (channels / "
                        "nand.striping); set 1 to {}",
                        interleaving, kind.name, g.channels(), g.channels()));
    if (const auto allocation = Allocation::parse(f.allocation); !allocation) return std::unexpected(allocation.error());
    if (f.reserved_permille >= 900)
        return std::unexpected(fmt::format("ftl.reserved_permille is {}: at most 899, 50 is the default", f.reserved_permille));
    if (log_blocks != 0 && log_blocks < kind.least_logs)
        return std::unexpected(fmt::format("ftl.log_blocks is {}: {} needs at least {}; 0 lets mkfs choose", log_blocks, kind.name, kind.least_logs));
    return {};
}

} // namespace

std::expected<MergePlan, std::string> plan_merge(const MergeKind& kind, const SsdConfig& config, const Geometry& g) {
    const FtlConfig& f = config.ftl;
    const std::uint32_t log_blocks = f.options[merge_option::log_blocks];
    if (auto fits = refuse(kind, f, g); !fits) return std::unexpected(fits.error());
    MergePlan out;
    FtlPlan& plan = out.plan;
    plan.groups = f.groups == 0 ? g.dies() : f.groups;
    plan.logical_page_bytes = g.page_bytes();
    const std::uint32_t planes = plan.groups * g.planes_per_die();
    const std::uint32_t blocks = planes * g.blocks_per_plane();
    const std::uint32_t bad = factory_bad_blocks(config.nand, blocks);
    const std::uint32_t good = blocks - bad;
    if (log_blocks >= good)
        return std::unexpected(
            fmt::format("ftl.log_blocks is {}, and the drive has {} good blocks in all: give fewer ftl.log_blocks, or a larger --size; "
                        "0 lets mkfs choose",
                        log_blocks, good));
    const std::uint32_t reserve = MergeFtl::merge_reserve + 1; // one more, so that the first block to fail does not end the device
    const std::uint32_t logs_asked = std::max(log_blocks, kind.least_logs) + kind.logs_beside;
    const auto asked = static_cast<std::uint32_t>(std::uint64_t{good} * f.reserved_permille / 1000);
    out.ftl.most_leaving = std::clamp(planes * 4, 8u, 64u);
    const MergeLimits most{g.blocks(), good, g.pages_per_block()};
    const std::uint64_t checkpoint =
        merge_checkpoint_bytes(most, (log_blocks != 0 ? logs_asked : std::max(asked, logs_asked)) + out.ftl.most_leaving);
    // A record takes a page however little it says: with a journal as long as a checkpoint, checkpoints at most double what records cost.
    out.ftl.meta = plan_meta_area(config.nand, g, planes, {.checkpoint_bytes = checkpoint, .journal_bytes = checkpoint},
                                  f.moving_ring ? RingPlace::moves : RingPlace::fixed);
    plan.meta_blocks = static_cast<std::uint32_t>(out.ftl.meta.all().size());
    const std::uint32_t least = logs_asked + reserve + plan.meta_blocks;
    if (plan.meta_blocks == 0 || good < 2 * least)
        return std::unexpected(
            fmt::format("the drive is too small: of its {} good blocks the log takes {}, merges {} and the journal {}. Give a larger --size{}", good,
                        logs_asked, reserve, plan.meta_blocks, log_blocks > kind.least_logs ? ", or fewer ftl.log_blocks" : ""));
    plan.spare_blocks = std::max(asked, least);
    if (plan.spare_blocks > asked)
        plan.warnings.push_back(
            fmt::format("{} blocks are spare, {} more than ftl.reserved_permille asks: log blocks need {}, merges {}, the journal {}. Not an error",
                        plan.spare_blocks, plan.spare_blocks - asked, logs_asked, reserve, plan.meta_blocks));
    const std::uint32_t room = plan.spare_blocks - plan.meta_blocks - reserve;
    plan.effective_spare_blocks = room;
    if (log_blocks != 0) {
        out.ftl.log_blocks = logs_asked;
    } else {
        // What is left free lets merges run ahead on several planes, and, where a few log blocks less are not felt, wait for a record that speaks of
        // many.
        const std::uint32_t ahead = std::max(std::min(planes, room / 4), std::min(out.ftl.most_leaving, room / 64));
        out.ftl.log_blocks = std::max(logs_asked, room - ahead);
        if (kind.most_logs_a_plane != 0) out.ftl.log_blocks = std::clamp(kind.most_logs_a_plane * planes, logs_asked, out.ftl.log_blocks);
    }
    if (!kind.warning.empty()) plan.warnings.emplace_back(kind.warning);
    out.ftl.least_logs = 1 + kind.logs_beside;
    out.ftl.groups = plan.groups;
    out.ftl.allocation = *Allocation::parse(f.allocation);
    out.ftl.wear_threshold = f.wear_threshold;
    out.ftl.interleaving = kind.interleaves ? f.options[merge_option::interleaving] : 1;
    out.ftl.logical_blocks = good - plan.spare_blocks;
    plan.logical_pages = out.ftl.logical_blocks * g.pages_per_block();
    return out;
}

} // namespace flashlab
