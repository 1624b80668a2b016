#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

using namespace tpftl_option;

constexpr DemandKind tpftl_kind{"tpftl", &entry_bytes, &node_bytes, &fetch_on_write_miss};
constexpr std::array<const Option*, 7> tpftl_options{&page_option::checkpoint_blocks,
                                                     &demand_option::mapping_cache_bytes,
                                                     &entry_bytes,
                                                     &node_bytes,
                                                     &request_prefetch,
                                                     &selective_prefetch,
                                                     &fetch_on_write_miss};

constexpr std::array tpftl_counters = demand_counters<NodeEntries>(Counter{"map_prefetches", "entries", "Map entries that came with a missed one.",
                                                                           demand_counter<&DemandCounters::map_prefetches, NodeEntries>, true});

std::expected<std::unique_ptr<Ftl>, std::string> make_tpftl(const FtlParts& parts) {
    const OptionSet& options = parts.config.ftl.options;
    return make_demand<NodeEntries>(tpftl_kind, parts, {}, Prefetch{options[request_prefetch], options[selective_prefetch]});
}

} // namespace

const Scheme& tpftl_scheme() {
    static constexpr Scheme scheme =
        demand_scheme({.name = "tpftl",
                       .idea = "dftl with its entries in nodes by translation page, and prefetch (Zhou et al.)",
                       .keys = demand_keys,
                       .options = tpftl_options,
                       .counters = tpftl_counters,
                       .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand(tpftl_kind, config, g); },
                       .make = make_tpftl});
    return scheme;
}

} // namespace flashlab
