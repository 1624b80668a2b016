#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

constexpr OptionOf<std::uint32_t> entry_bytes{
    {.key = "tpftl.entry_bytes",
     .help = "DRAM charged for a cached mapping entry, in bytes: place in its translation page and physical page number. Larger: fewer fit.",
     .initial = 6,
     .min = 4,
     .max = 64}};
constexpr OptionOf<std::uint32_t> node_bytes{
    {.key = "tpftl.node_bytes", .help = "DRAM charged for a translation page with cached entries, in bytes.", .initial = 12, .max = 64}};
constexpr OptionOf<bool> request_prefetch{{.key = "tpftl.request_prefetch",
                                           .help = "1: a read that misses the mapping cache brings the entries of its whole request. 0: one entry.",
                                           .phase = OptionPhase::mount,
                                           .initial = 1,
                                           .max = 1}};
constexpr OptionOf<bool> selective_prefetch{
    {.key = "tpftl.selective_prefetch",
     .help = "1: while ever fewer translation pages have cached entries, a miss brings as many entries behind it as are cached before it. 0: never.",
     .phase = OptionPhase::mount,
     .initial = 1,
     .max = 1}};

constexpr OptionOf<bool> fetch_on_write_miss{{.key = "tpftl.fetch_on_write_miss",
                                              .help = "1: a write miss reads its translation page. 0: it does not.",
                                              .phase = OptionPhase::mount,
                                              .max = 1}};

constexpr DemandKind tpftl_kind{"tpftl", &entry_bytes, &node_bytes, &fetch_on_write_miss};
constexpr std::array<const Option*, 7> tpftl_options{&page_option::checkpoint_blocks,
                                                     &demand_option::mapping_cache_bytes,
                                                     &entry_bytes,
                                                     &node_bytes,
                                                     &request_prefetch,
                                                     &selective_prefetch,
                                                     &fetch_on_write_miss};

constexpr std::array tpftl_counters = demand_counters<NodeEntries>(Counter{"map_prefetches", "entries", "Map entries that came with a missed one.",
                                                                           demand_counter<NodeEntries, &DemandCounters::map_prefetches>, true});

std::expected<std::unique_ptr<Ftl>, std::string> make_tpftl(const FtlParts& parts) {
    const OptionSet& options = parts.config.ftl.options;
    return make_demand<NodeEntries>(tpftl_kind, parts, Prefetch{options[request_prefetch], options[selective_prefetch]});
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
