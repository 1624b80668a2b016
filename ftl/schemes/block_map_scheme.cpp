#include "ftl/schemes/block_map.h"

#include "ftl/schemes/merge_plan.h"

namespace flashlab {

namespace {

constexpr MergeKind kind{
    .name = "block_map",
    .most_logs_a_plane = 1,
    .warning = "block_map rewrites a whole block for each small overwrite: right for large sequential writes and as a baseline, very slow and "
               "wearing for anything else (log_block, fast and page_map are not)",
    .interleaves = true};

} // namespace

const Scheme& block_map_scheme() {
    static constexpr Scheme scheme{.name = kind.name,
                                   .idea = "block map alone: an overwrite rewrites its block (the baseline BL)",
                                   .keys = merge_keys,
                                   .options = interleaving_options,
                                   .counters = merge_counters,
                                   .plan = [](const SsdConfig& config, const Geometry& geometry) { return plan_of(kind, config, geometry); },
                                   .make = [](const FtlParts& parts) { return make_of<BlockMapFtl>(kind, parts); },
                                   .write_memory = turnover_of_logs};
    return scheme;
}

} // namespace flashlab
