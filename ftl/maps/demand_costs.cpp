#include "ftl/maps/demand_costs.h"

#include <algorithm>
#include <utility>

#include "ftl/cache/unit_costs.h"

namespace flashlab {

void DemandCosts::collected(FrontierId frontier) {
    Collected& c = collected_[frontier.value()];
    c.copies_a_block.add(std::exchange(c.copies, 0));
}

ProfitFactors DemandCosts::factors(const DemandCounters& counted, const TableParts& parts) {
    const auto ratio = [](std::uint64_t misses, std::uint64_t hits, double before) {
        return misses + hits == 0 ? before : static_cast<double>(misses) / static_cast<double>(misses + hits);
    };
    const std::uint64_t entries_read = counted.map_read_misses - seen_.map_read_misses + counted.map_read_hits - seen_.map_read_hits;
    const std::uint64_t pages_read = std::min(counted.read_for_host - seen_.read_for_host, entries_read);
    read_misses_ = ratio(pages_read, entries_read - pages_read, read_misses_);
    write_misses_ = ratio(counted.map_write_misses - seen_.map_write_misses, counted.map_write_hits - seen_.map_write_hits, write_misses_);
    seen_ = counted;
    const UnitGeometry& units = parts.blocks.units();
    const UnitCosts cost = unit_costs(parts.array, units.pages_per_unit());
    const auto overhead = [&](FrontierId frontier) { // of a page written, for the block that is reclaimed in its place
        const double copies = collected_[frontier.value()].copies_a_block.value_or(0);
        return (copies * (cost.read + cost.write) + cost.erase) / units.units_per_block();
    };
    const double batch = std::max(batch_.value_or(1), 1.0);
    const double flush = (cost.read + cost.write + overhead(TranslationPages::frontier)) / batch;
    return {.buffer_read = cost.read + cost.read * read_misses_,
            .buffer_write = cost.write + overhead(host_frontier) + flush * write_misses_,
            .map_read = cost.read,
            .map_write = flush};
}

} // namespace flashlab
