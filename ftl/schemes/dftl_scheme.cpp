#include "ftl/maps/lru_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

constexpr DemandKind dftl_kind{"dftl", &demand_option::mapping_entry_bytes, nullptr, &demand_option::fetch_on_write_miss,
                               &demand_option::batch_update};
constexpr std::array<const Option*, 5> dftl_options{&page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes,
                                                    &demand_option::mapping_entry_bytes, &demand_option::fetch_on_write_miss,
                                                    &demand_option::batch_update};
constexpr std::array dftl_counters = demand_counters<LruEntries>();

} // namespace

const Scheme& dftl_scheme() {
    static constexpr Scheme scheme =
        demand_scheme({.name = "dftl",
                       .idea = "page map on flash, the entries in use cached in DRAM (Gupta et al.)",
                       .keys = demand_keys,
                       .options = dftl_options,
                       .counters = dftl_counters,
                       .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand(dftl_kind, config, g); },
                       .make = [](const FtlParts& parts) { return make_demand<LruEntries>(dftl_kind, parts, {}); }});
    return scheme;
}

} // namespace flashlab
