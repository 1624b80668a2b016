#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

constexpr DemandKind learnedftl_kind{"learnedftl", &tpftl_option::entry_bytes, &tpftl_option::node_bytes, &tpftl_option::fetch_on_write_miss};
constexpr std::array<const Option*, 10> learnedftl_options{
    &page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes, &tpftl_option::entry_bytes,         &tpftl_option::node_bytes,
    &tpftl_option::request_prefetch, &tpftl_option::selective_prefetch,   &tpftl_option::fetch_on_write_miss, &learnedftl_option::model_permille,
    &learnedftl_option::intervals,   &learnedftl_option::train_pages};

template <std::uint64_t ModelCounters::*member>
std::uint64_t model_counter(const Ftl& ftl) {
    return demand_table_of<NodeEntries, PageModels>(ftl).models().counted().*member;
}

constexpr std::array learnedftl_counters = demand_counters<NodeEntries, PageModels>(
    Counter{"map_prefetches", "entries", "Map entries that came with a missed one.",
            demand_counter<&DemandCounters::map_prefetches, NodeEntries, PageModels>, true},
    Counter{"predicted_reads", "pages", "Pages read whose entry was not cached and whose place a model knew.",
            model_counter<&ModelCounters::predicted_reads>},
    Counter{"trainings", "intervals", "Intervals of models that were made or grew.", model_counter<&ModelCounters::trainings>},
    Counter{"pages_learned", "pages", "Pages whose place a model came to know.", model_counter<&ModelCounters::pages_learned>},
    Counter{"pages_forgotten", "pages", "Of these: forgotten for want of room, or for another interval.",
            model_counter<&ModelCounters::pages_forgotten>});

std::expected<std::unique_ptr<Ftl>, std::string> make_learnedftl(const FtlParts& parts) {
    const OptionSet& options = parts.config.ftl.options;
    return make_demand<NodeEntries, PageModels>(
        learnedftl_kind, parts,
        {options[learnedftl_option::model_permille], options[learnedftl_option::intervals], options[learnedftl_option::train_pages]},
        Prefetch{options[tpftl_option::request_prefetch], options[tpftl_option::selective_prefetch]});
}

} // namespace

const Scheme& learnedftl_scheme() {
    static constexpr Scheme scheme =
        demand_scheme({.name = "learnedftl",
                       .idea = "tpftl beside learned models of where pages lie, which save reads of the map (Wang et al.)",
                       .keys = demand_keys,
                       .options = learnedftl_options,
                       .counters = learnedftl_counters,
                       .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand(learnedftl_kind, config, g); },
                       .make = make_learnedftl});
    return scheme;
}

} // namespace flashlab
