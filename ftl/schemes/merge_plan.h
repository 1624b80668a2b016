/// What a configuration of a block-mapping scheme comes to: data, log, reserve and journal blocks.
///
/// Idea       One calculation for the three schemes; they differ in how many log blocks they need and like.
/// Invariant  Pure. logical + log + MergeFtl::merge_reserve blocks never exceed the good blocks outside the journal.
/// Cost       One pass over the blocks for the factory's marks.
/// Power cut  Keeps nothing.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "ftl/scheme.h"
#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

struct MergeKind {
    std::string_view name;
    std::uint32_t least_logs = 1;        ///< that ftl.log_blocks may ask for
    std::uint32_t logs_beside = 0;       ///< kept in addition to ftl.log_blocks (FAST's SW log block)
    std::uint32_t most_logs_a_plane = 0; ///< when mkfs chooses; 0 = what the reserve allows
    std::string_view warning;            ///< mkfs prints it
    bool interleaves = false;            ///< ftl.interleaving does something
};

namespace merge_option {
inline constexpr OptionOf<std::uint32_t> log_blocks{
    {.key = "ftl.log_blocks",
     .help = "Log blocks of log_block, RW log blocks of fast, blocks being rewritten of block_map. More: fewer merges, less spare. 0: mkfs chooses.",
     .max = std::numeric_limits<std::uint32_t>::max(),
     .behind = "ftl.reserved_permille"}};
/// MC4
inline constexpr OptionOf<std::uint32_t> interleaving{
    {.key = "ftl.interleaving",
     .help = "Channels (of nand.striping each) that consecutive logical pages take in turn. Larger: small consecutive requests run in parallel.",
     .initial = 1,
     .min = 1,
     .max = 256,
     .behind = "ftl.striping"}};
} // namespace merge_option

/// The keys and options of the block-mapping schemes.
inline constexpr std::array<std::string_view, 2> merge_keys{"ftl.allocation", "ftl.moving_ring"};
inline constexpr std::array<const Option*, 1> merge_options{&merge_option::log_blocks};
/// Of those among them that give consecutive pages to several blocks in turn.
inline constexpr std::array<const Option*, 2> interleaving_options{&merge_option::log_blocks, &merge_option::interleaving};

template <std::uint64_t MergeCounters::*member>
std::uint64_t merges_counted(const Ftl& ftl) {
    return dynamic_cast<const MergeFtl&>(ftl).merge_counters().*member;
}
inline constexpr std::array merge_counters{
    Counter{"switch_merges", "merges", "Merges that copied nothing: the log block became the data block.", merges_counted<&MergeCounters::switches>,
            true},
    Counter{"partial_merges", "merges", "Merges that filled the rest of a log block.", merges_counted<&MergeCounters::partial>, true},
    Counter{"full_merges", "merges", "Merges that copied all valid pages into a new block.", merges_counted<&MergeCounters::full>, true},
    Counter{"map_write_hits", "pages", "Pages written that a log block held already: a copy less for a merge.",
            merges_counted<&MergeCounters::rewritten_in_log>, true},
    Counter{"map_write_misses", "pages", "The other pages written.", merges_counted<&MergeCounters::new_in_log>, true}};

struct MergePlan {
    FtlPlan plan;
    MergeFtlConfig ftl;
};

[[nodiscard]] std::expected<MergePlan, std::string> plan_merge(const MergeKind& kind, const SsdConfig& config, const Geometry& geometry);

/// Each log block has served other homes since, a few times over.
[[nodiscard]] inline WriteMemory turnover_of_logs(const SsdConfig&, const FtlPlan&, const Geometry&, const Ftl& ftl) {
    return {WriteMemory::Kind::turnover, 16 * std::uint64_t{ftl.space().spare_blocks} + 64};
}

/// The two functions of a Scheme that each has. `kind` is an argument of the function and not of the template: it is an object of one .cpp, and
/// GCC 14 lets the linker take one instantiation for those of all such objects that have the same name.
[[nodiscard]] inline std::expected<FtlPlan, std::string> plan_of(const MergeKind& kind, const SsdConfig& config, const Geometry& geometry) {
    auto planned = plan_merge(kind, config, geometry);
    if (!planned) return std::unexpected(planned.error());
    return std::move(planned->plan);
}

template <class Ftl_, class... Own>
std::expected<std::unique_ptr<Ftl>, std::string> make_of(const MergeKind& kind, const FtlParts& parts, Own... own) {
    auto planned = plan_merge(kind, parts.config, parts.array.geometry());
    if (!planned) return std::unexpected(planned.error());
    return std::make_unique<Ftl_>(std::move(planned->ftl), parts.array, parts.events, own...);
}

} // namespace flashlab
