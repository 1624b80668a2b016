#include "ftl/schemes/log_block.h"

#include "ftl/schemes/merge_plan.h"

namespace flashlab {

namespace {

constexpr MergeKind kind{.name = "log_block", .least_logs = 2, .warning = {}, .interleaves = true};

} // namespace

const Scheme& log_block_scheme() {
    static constexpr Scheme scheme{.name = kind.name,
                                   .idea = "block map with a log block for each logical block under write (BAST, LBFTL)",
                                   .keys = merge_keys,
                                   .options = interleaving_options,
                                   .counters = merge_counters,
                                   .plan = [](const SsdConfig& config, const Geometry& geometry) { return plan_of(kind, config, geometry); },
                                   .make = [](const FtlParts& parts) { return make_of<LogBlockFtl>(kind, parts); },
                                   .write_memory = turnover_of_logs};
    return scheme;
}

} // namespace flashlab
