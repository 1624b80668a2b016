#include "ftl/maps/lru_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

const Scheme& dftl_scheme() {
    static constexpr Scheme scheme{.name = "dftl",
                                   .idea = "page map on flash, the entries in use cached in DRAM (Gupta et al.)",
                                   .keys = demand_keys,
                                   .options = demand_options,
                                   .counters = demand_counters<LruEntries>,
                                   .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand("dftl", config, g); },
                                   .make = [](const FtlParts& parts) { return make_demand<LruEntries>("dftl", parts); },
                                   .write_memory = memory_of_demand,
                                   .separates = true,
                                   .dram_bytes = dram_of_demand,
                                   .settle = settle_demand};
    return scheme;
}

} // namespace flashlab
