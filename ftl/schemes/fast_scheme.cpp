#include "ftl/schemes/fast.h"

#include "ftl/schemes/merge_plan.h"

namespace flashlab {

namespace {

constexpr MergeKind kind{.name = "fast", .logs_beside = 1, .warning = {}};

WriteMemory memory_of_fast(const SsdConfig&, const FtlPlan&, const Geometry&, const Ftl& ftl) {
    const auto* fast = dynamic_cast<const FastFtl*>(&ftl); // how many log blocks there may be is for the partition of the DRAM to say
    return fast == nullptr ? WriteMemory{} : WriteMemory{WriteMemory::Kind::shared_log, fast->log_pages()};
}

} // namespace

const Scheme& fast_scheme() {
    static constexpr Scheme scheme{.name = kind.name,
                                   .idea = "block map with one sequential log block and log blocks shared by all (FAST)",
                                   .keys = merge_keys,
                                   .options = merge_options,
                                   .counters = merge_counters,
                                   .plan = [](const SsdConfig& config, const Geometry& geometry) { return plan_of(kind, config, geometry); },
                                   .make = [](const FtlParts& parts) { return make_of<FastFtl>(kind, parts); },
                                   .write_memory = memory_of_fast};
    return scheme;
}

} // namespace flashlab
