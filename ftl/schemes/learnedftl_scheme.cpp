#include <fmt/format.h>

#include "ftl/maps/node_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

constexpr DemandKind learnedftl_kind{"learnedftl", &tpftl_option::entry_bytes, &tpftl_option::node_bytes, &tpftl_option::fetch_on_write_miss};
constexpr std::array<const Option*, 11> learnedftl_options{
    &page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes, &tpftl_option::entry_bytes,         &tpftl_option::node_bytes,
    &tpftl_option::request_prefetch, &tpftl_option::selective_prefetch,   &tpftl_option::fetch_on_write_miss, &learnedftl_option::model_permille,
    &learnedftl_option::intervals,   &learnedftl_option::train_pages,     &learnedftl_option::groups};

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
    Counter{"pages_sorted", "pages", "Pages rewritten in the order of their numbers, so that models know them.",
            model_counter<&ModelCounters::pages_sorted>},
    Counter{"pages_forgotten", "pages", "Pages that a model knew, forgotten for want of room, or for another interval.",
            model_counter<&ModelCounters::pages_forgotten>});

/// What is spare must hold the logs' stale pages, not only the logs: else pages are put in order over and over for a block that is free.
std::expected<FtlPlan, std::string> plan_learnedftl(const SsdConfig& config, const Geometry& g) {
    auto plan = plan_demand(learnedftl_kind, config, g);
    const std::uint32_t groups = page_groups_of(config);
    if (!plan || groups == 0) return plan;
    const std::uint32_t row = plan->groups * g.planes_per_die(), open = open_logs_of(config, plan->groups) * row;
    const std::uint32_t needed = 2 * (open + row);
    if (plan->effective_spare_blocks >= needed) return plan;
    return std::unexpected(
        fmt::format("learnedftl.groups = {} holds {} blocks open, and needs {} spare blocks for stale pages; of the drive's {} there "
                    "are {}: set fewer groups, more ftl.reserved_permille or a larger --size",
                    groups, open, needed, plan->spare_blocks, plan->effective_spare_blocks));
}

std::expected<std::unique_ptr<Ftl>, std::string> make_learnedftl(const FtlParts& parts) {
    const OptionSet& options = parts.config.ftl.options;
    return make_demand<NodeEntries, PageModels>(learnedftl_kind, parts,
                                                {options[learnedftl_option::model_permille], options[learnedftl_option::intervals],
                                                 options[learnedftl_option::train_pages], options[learnedftl_option::groups]},
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
                       .plan = plan_learnedftl,
                       .make = make_learnedftl});
    return scheme;
}

} // namespace flashlab
