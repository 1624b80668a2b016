/// Which blocks of an array with parity over dies are set aside, before there is an array.
///
/// Idea       What NandArray::is_factory_bad() says of NandConfig::rain; without it a block is the chips' own.
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
        if (dies_.empty()) return flashlab::is_set_aside(nand_, seen);
        const std::uint32_t a_die = nand_.geometry.planes_per_die * nand_.geometry.blocks_per_plane;
        const auto members = std::span{dies_}.subspan(std::size_t{seen.value() / a_die} * nand_.rain, nand_.rain);
        return std::ranges::any_of(members,
                                   [&](DieId die) { return flashlab::is_set_aside(nand_, BlockId{die.value() * a_die + seen.value() % a_die}); });
    }

private:
    const NandConfig& nand_;
    std::vector<DieId> dies_; ///< empty: no parity
};

} // namespace flashlab
