#include <fmt/format.h>

#include "ftl/maps/learned_table.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

using namespace leaftl_option;

constexpr DemandKind leaftl_kind{.scheme = "leaftl",
                                 .pages_of = [](const UnitGeometry& units) { return LearnedShape{units}.pages_a_translation(); },
                                 .recorded =
                                     [](const UnitGeometry& units, std::uint32_t groups, const CachedEntries& cached) {
                                         return LearnedShape{units}.checkpoint_bytes_at_most(units, groups,
                                                                                             std::uint64_t{cached.count} * cached.bytes_each);
                                     }};

using LeaFtl = PagedFtl<LearnedTable>;

/// The OOB of a page has its own record and names the pages of so many units before and behind it: then one read mends a misprediction.
std::expected<FtlPlan, std::string> plan_leaftl(const SsdConfig& config, const Geometry& g) {
    constexpr std::uint32_t name_bytes = 4;
    const std::uint64_t wanted = PageOob::encoded_size + 2 * name_bytes * config.ftl.options[gamma];
    const std::uint32_t there = config.nand.geometry.spare_bytes;
    if (config.ftl.options[gamma] != 0 && wanted > there)
        return std::unexpected(
            fmt::format("leaftl.gamma = {}: the names of so many neighbours on both sides and the page's own record take {} bytes of "
                        "the spare area, which has {}: lower it to {}, or raise nand.spare_bytes",
                        config.ftl.options[gamma], wanted, there, (there - PageOob::encoded_size) / (2 * name_bytes)));
    return plan_demand(leaftl_kind, config, g);
}

std::expected<std::unique_ptr<Ftl>, std::string> make_leaftl(const FtlParts& parts) {
    auto policies = block_policies_of(parts.config, parts.plan.logical_pages);
    if (!policies) return std::unexpected(policies.error());
    DemandParts of = demand_parts(leaftl_kind, parts);
    of.journal.shape.tag = 0x6661'656c; // "leaf"
    const OptionSet& options = parts.config.ftl.options;
    LearnedConfig learned;
    learned.bytes = std::uint64_t{of.cached.count} * of.cached.bytes_each;
    learned.gamma = options[gamma];
    learned.batch_pages = options[batch_pages];
    learned.compaction_pages = options[compaction_pages];
    return std::make_unique<LeaFtl>("leaftl", parts.plan.logical_pages, of.blocks, parts.array, parts.events, std::move(*policies), of.journal,
                                    learned);
}

const LearnedTable& leaftl_table(const Ftl& ftl) { return dynamic_cast<const LeaFtl&>(ftl).table(); }
template <std::uint64_t DemandCounters::*member>
std::uint64_t leaftl_demand(const Ftl& ftl) {
    return leaftl_table(ftl).counted().*member;
}
template <std::uint64_t LearnedCounters::*member>
std::uint64_t leaftl_learned(const Ftl& ftl) {
    return leaftl_table(ftl).learned().*member;
}

constexpr std::array<const Option*, 5> leaftl_options{&page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes, &gamma, &batch_pages,
                                                      &compaction_pages};
constexpr std::array leaftl_counters{
    Counter{"map_read_hits", "entries", "Map entries looked up for reads, found in DRAM.", leaftl_demand<&DemandCounters::map_read_hits>, true},
    Counter{"map_read_misses", "entries", "The same, not found: fetched from the flash, unless the page is unmapped.",
            leaftl_demand<&DemandCounters::map_read_misses>, true},
    Counter{"map_write_hits", "entries", "Map entries looked up for writes, found in DRAM.", leaftl_demand<&DemandCounters::map_write_hits>, true},
    Counter{"map_write_misses", "entries", "The same, not found.", leaftl_demand<&DemandCounters::map_write_misses>, true},
    Counter{"translation_reads", "pages", "Translation pages read.", leaftl_demand<&DemandCounters::translation_reads>, true},
    Counter{"translation_writes", "pages", "Translation pages written, without copies by collections.",
            leaftl_demand<&DemandCounters::translation_writes>, true},
    Counter{"double_reads", "pages", "Translation pages that reads of the host waited for.", leaftl_demand<&DemandCounters::read_for_host>},
    Counter{"mispredictions", "pages", "Pages whose segment led to a wrong unit: one more read each.",
            leaftl_learned<&LearnedCounters::mispredictions>},
    Counter{"segments_learned", "segments", "Segments learned.", leaftl_learned<&LearnedCounters::learned>},
    Counter{"segments_approximate", "segments", "Of these: approximate.", leaftl_learned<&LearnedCounters::learned_approximate>}};

} // namespace

const Scheme& leaftl_scheme() {
    static constexpr Scheme scheme{.name = "leaftl",
                                   .idea = "page map of learned segments on flash, those in use in DRAM (Sun et al.)",
                                   .keys = demand_keys,
                                   .options = leaftl_options,
                                   .counters = leaftl_counters,
                                   .plan = plan_leaftl,
                                   .make = make_leaftl,
                                   .write_memory = [](const SsdConfig& config, const FtlPlan& plan, const Geometry& g,
                                                      const Ftl& ftl) { return memory_of_demand(leaftl_kind, config, plan, g, ftl); },
                                   .separates = true,
                                   .dram_bytes = dram_of_demand,
                                   .settle = settle_demand};
    return scheme;
}

} // namespace flashlab
