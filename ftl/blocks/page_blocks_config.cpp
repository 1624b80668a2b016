#include "ftl/blocks/page_blocks_config.h"

#include <algorithm>

namespace flashlab {

std::uint32_t PageBlocksConfig::keep_free(const UnitGeometry& units, std::uint64_t spare_units, FrontierId frontier) const {
    const std::uint64_t enough_rows = streams == 1 ? 8 : 4; // that one more is not felt, and that collections can make it (B4)
    const std::uint32_t least = rule_of(frontier).writes_keep_free;
    const std::uint32_t planes = units.geometry().planes_per_die();
    if (kind_of(frontier) != 0 || spare_units < enough_rows * planes * units.units_per_block() * groups) return least;
    return streams == 1 ? std::max(least, planes + 1) : least + planes; // streams: a row for copies that are made in slices
}

bool PageBlocksConfig::is_paced(const UnitGeometry& units, std::uint64_t spare_units) const {
    const std::uint32_t blocks = units.geometry().planes_per_die() + keep_free(units, spare_units, host_frontier);
    return spare_units >= std::uint64_t{paced_from_spare} * blocks * units.units_per_block() * groups;
}

std::uint32_t PageBlocksConfig::half_blocks_held(const UnitGeometry& units, std::uint64_t spare_units) const {
    const std::uint32_t planes = units.geometry().planes_per_die();
    const std::uint32_t keep = keep_free(units, spare_units, host_frontier);
    // The open superblock is half written; while it fills, a paced collection frees the next row of planes, which is half there. Without pace
    // superblocks are narrow.
    std::uint32_t halves = 2 * keep + (is_paced(units, spare_units) ? 2 * planes : 1);
    halves += (open_streams() - 1) * planes;
    for (std::size_t f = 1; f < frontiers.size(); ++f) halves += frontiers[f].columns == 0 ? planes : frontiers[f].columns;
    return halves;
}

} // namespace flashlab
