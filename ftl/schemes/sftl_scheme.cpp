#include "ftl/maps/spatial_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {

namespace {

using namespace sftl_option;

/// Beside the cache's, what may be dirty until the next write-back: pages that a trim takes in part, two at most, and a row.
constexpr DemandKind sftl_kind{.scheme = "sftl", .recorded = [](const UnitGeometry& units, std::uint32_t groups, const CachedEntries& cached) {
                                   CachedEntries most = cached;
                                   most.count += 3 * TranslationPages::entries_in(units);
                                   return DemandKind::recorded_entries(units, groups, most);
                               }};
constexpr std::array<const Option*, 4> sftl_options{&page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes, &buffer_permille,
                                                    &sparse_entries};
constexpr std::array sftl_counters = demand_counters<SpatialEntries>();

/// Where neighbouring pages lie: one behind the other; in a row, which is on all planes of a die; in rows, die after die.
SpatialShape shape_of(const FtlParts& parts) {
    const OptionSet& options = parts.config.ftl.options;
    const std::uint32_t line = parts.array.config().pages_a_program(), unit = parts.config.ftl.mapping_unit_pages;
    const std::uint32_t step = std::max(1u, line / unit), row = step * parts.array.geometry().planes_per_die();
    return {{{{1, 1}, {row, step}, {row * parts.plan.groups, step}}}, options[buffer_permille], options[sparse_entries]};
}

std::expected<std::unique_ptr<Ftl>, std::string> make_sftl(const FtlParts& parts) {
    return make_demand<SpatialEntries>(sftl_kind, parts, {}, shape_of(parts));
}

} // namespace

const Scheme& sftl_scheme() {
    static constexpr Scheme scheme =
        demand_scheme({.name = "sftl",
                       .idea = "dftl with whole translation pages in DRAM, each in as many bytes as runs lie in it (Jiang et al.)",
                       .keys = demand_keys,
                       .options = sftl_options,
                       .counters = sftl_counters,
                       .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand(sftl_kind, config, g); },
                       .make = make_sftl});
    return scheme;
}

} // namespace flashlab
