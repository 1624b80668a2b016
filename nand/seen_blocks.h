/// Which blocks of an array with striping, or with parity over dies, are set aside, before there is an array.
///
/// Idea       What NandArray::is_factory_bad() says of NandConfig::rain and striping; without them a block is the chips' own.
/// Invariant  A seen block is set aside iff one of its members is.
/// Cost       A table of the dies; W draws a question.
/// Power cut  Follows from the configuration.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "nand/pair_backup.h"
#include "nand/rain_rows.h"

namespace flashlab {

class SeenBlocks {
public:
    /// `nand` lives as long; its geometry is one that Geometry::make() accepts.
    explicit SeenBlocks(const NandConfig& nand) : nand_{nand} {
        if (nand.rain == 0) return;
        const auto chips = Geometry::make(nand.geometry);
        if (chips && chips->with_parity(nand.rain)) dies_ = dies_of_rows(*chips, nand.rain);
    }
    [[nodiscard]] bool is_set_aside(BlockId seen) const {
        if (dies_.empty()) return any_of_stripe(seen);
        const std::uint32_t a_die = nand_.geometry.planes_per_die * nand_.geometry.blocks_per_plane;
        const auto members = std::span{dies_}.subspan(std::size_t{seen.value() / a_die} * nand_.rain, nand_.rain);
        return std::ranges::any_of(members,
                                   [&](DieId die) { return flashlab::is_set_aside(nand_, BlockId{die.value() * a_die + seen.value() % a_die}); });
    }

private:
    /// A stripe has a block of each of so many neighbouring channels.
    [[nodiscard]] bool any_of_stripe(BlockId seen) const {
        const GeometryConfig& g = nand_.geometry;
        const std::uint32_t a_channel = g.chips_per_channel * g.dies_per_chip * g.planes_per_die * g.blocks_per_plane;
        const std::uint32_t first = seen.value() + seen.value() / a_channel * (nand_.striping - 1) * a_channel;
        for (std::uint32_t member = 0; member < nand_.striping; ++member)
            if (flashlab::is_set_aside(nand_, BlockId{first + member * a_channel})) return true;
        return false;
    }
    const NandConfig& nand_;
    std::vector<DieId> dies_; ///< empty: no parity
};

} // namespace flashlab
