/// What a configuration comes to for a scheme on PageBlocks: groups, reserve, logical pages, the ring of its MetaLog.
///
/// Idea       One place where the reserve is computed and refused combinations get their reason.
/// Invariant  Blocks = logical + spare + factory bad ones; the ring's blocks and what the scheme itself writes are part of the spare ones.
/// Cost       Once a mkfs or mount, O(blocks) for the factory's marks.
/// Power cut  Keeps nothing.
#pragma once

#include <expected>
#include <string>

#include "ftl/blocks/page_blocks.h"
#include "ftl/recovery/meta_log.h"
#include "ftl/scheme.h"

namespace flashlab {

namespace page_option {
/// Of schemes with a page journal.
inline constexpr OptionOf<std::uint32_t> checkpoint_blocks{{.key = "ftl.checkpoint_blocks",
                                                            .help = "Blocks opened between two checkpoints of the map. Larger: fewer checkpoint "
                                                                    "writes, a longer recovery. 0: so many that they are 1 % of the writes.",
                                                            .phase = OptionPhase::mount,
                                                            .max = 1u << 30,
                                                            .behind = "ftl.separation"}};
/// Of schemes whose blocks may have an SLC cache.
inline constexpr OptionOf<std::uint32_t> slc_blocks{{.key = "ftl.slc_blocks",
                                                     .help = "Blocks of an SLC write cache, spread over the planes; folded into the others when the "
                                                             "host pauses. More: longer fast bursts (nand.slc_page_program_ns). 0: none.",
                                                     .max = 1u << 24,
                                                     .behind = "ftl.separation"}};
inline constexpr OptionOf<std::uint32_t> slc_dynamic_permille{
    {.key = "ftl.slc_dynamic_permille",
     .help = "Permille of the other blocks that the SLC cache may borrow while the drive has room; they are folded when it is needed. More: longer "
             "fast bursts, slower writes once the drive fills. 0: none.",
     .max = 1000,
     .behind = "ftl.slc_blocks"}};
inline constexpr OptionOf<bool> fold_at_rest{
    {.key = "ftl.fold_at_rest",
     .help = "1: the SLC cache is folded when the host pauses. 0: at pauses only while it has no room; until then reads find their data in SLC.",
     .phase = OptionPhase::mount,
     .initial = 1,
     .max = 1,
     .behind = "ftl.fold_after_us"}};
inline constexpr OptionOf<std::uint32_t> fold_page_ns{
    {.key = "ftl.fold_page_ns",
     .help = "The controller's work for a page that is folded, one after the other on each channel, in ns. More: slower writes once the drive fills. "
             "0: as fast as the chips.",
     .phase = OptionPhase::mount,
     .max = 1'000'000'000,
     .behind = "ftl.fold_at_rest"}};
inline constexpr OptionOf<std::uint32_t> fold_after_us{
    {.key = "ftl.fold_after_us",
     .help = "Microseconds without a read or write of the host until the SLC cache is folded into the other blocks.",
     .phase = OptionPhase::mount,
     .initial = 50'000,
     .max = 1u << 30,
     .behind = "ftl.slc_dynamic_permille"}};
inline constexpr OptionOf<bool> records_in_slc{{.key = "ftl.records_in_slc",
                                                .help =
                                                    "The map's records and checkpoints lie in blocks of SLC mode (nand.slc_page_program_ns): with "
                                                    "nand.one_shot each record else takes the time of a word line.",
                                                .max = 1,
                                                .behind = "ftl.fold_after_us"}};
} // namespace page_option

struct PagePlanRequest {
    std::string_view scheme;
    std::uint32_t spare_a_group = 4; ///< at least, and two rows of planes
    bool has_meta_log = false;
    std::uint64_t checkpoint_bytes = 0; ///< at most
    std::uint64_t own_units = 0;        ///< at most: pages of the scheme's own beside the host's
    std::vector<FrontierRule> frontiers{FrontierRule{}};
    std::uint32_t paced_from_spare = 2; ///< both as in PageBlocksConfig
    bool has_cache = false;             ///< the options of an SLC cache are its own
    bool records_in_slc = false;        ///< of its ring
};

/// Mapping unit, striping and groups that PageBlocks can do; plan_pages() asks it, too. The error says what to set.
[[nodiscard]] std::expected<void, std::string> can_map_units(const SsdConfig& config, const Geometry& geometry, std::string_view scheme);
[[nodiscard]] std::expected<FtlPlan, std::string> plan_pages(const SsdConfig& config, const Geometry& geometry, const PagePlanRequest& request);
/// The ring that plan_pages() set aside; empty when the scheme has none.
[[nodiscard]] MetaArea meta_area_of(const SsdConfig& config, const Geometry& geometry, const FtlPlan& plan, std::uint64_t checkpoint_bytes,
                                    bool records_in_slc = false);
/// The part of PageBlocks' configuration that follows from the device's.
[[nodiscard]] PageBlocksConfig page_blocks_config(const SsdConfig& config, const FtlPlan& plan);
/// The SLC cache that the configuration asks for.
[[nodiscard]] CacheRegion cache_region_of(const SsdConfig& config, const Geometry& geometry, std::uint32_t groups);
/// learnedftl.groups, of the scheme that has them.
[[nodiscard]] std::uint32_t page_groups_of(const SsdConfig& config);
/// Logs of these groups that are open on one of `dies` at once, at most.
[[nodiscard]] std::uint32_t open_logs_of(const SsdConfig& config, std::uint32_t dies);
/// Streams of data: those that ftl.separation asks for, and the scheme's own.
[[nodiscard]] std::uint32_t streams_of(const SsdConfig& config);
[[nodiscard]] std::expected<BlockPolicies, std::string> block_policies_of(const SsdConfig& config, std::uint32_t logical_pages);
/// Of a page map with so many frontiers; `map_units` are written besides the logical pages.
[[nodiscard]] WriteMemory page_map_memory(const SsdConfig& config, const FtlPlan& plan, const Geometry& geometry, const Ftl& ftl,
                                          std::uint32_t frontiers = 1, std::uint64_t map_units = 0);

} // namespace flashlab
