#include "ftl/blocks/block_sets.h"

#include <algorithm>

#include "base/contract.h"
#include "nand/pair_backup.h"

namespace flashlab {

BlockSets::BlockSets(const NandConfig& nand, const Geometry& geometry, std::uint32_t width, std::span<const BlockId> set_aside)
    : width_{width}, set_of_(geometry.blocks(), none) {
    ensure(width >= 1 && geometry.channels() % width == 0, "a set's width divides the channels");
    const std::uint32_t planes_per_channel = geometry.planes() / geometry.channels();
    std::vector<std::vector<BlockId>> usable(geometry.planes());
    std::vector<bool> aside(geometry.blocks(), false);
    for (const BlockId block : set_aside) aside[block.value()] = true;
    for (std::uint32_t p = 0; p < geometry.planes(); ++p) {
        for (std::uint32_t i = 0; i < geometry.blocks_per_plane(); ++i) {
            const BlockId block = geometry.block_at(PlaneId{p}, i);
            if (!aside[block.value()] && !is_set_aside(nand, block)) usable[p].push_back(block);
        }
    }
    // Lanes of one place within the channel lie side by side, so that sets in turn use all channels first.
    std::vector<std::vector<PlaneId>> lanes;
    for (std::uint32_t place = 0; place < planes_per_channel; ++place) {
        for (std::uint32_t channel = 0; channel < geometry.channels(); channel += width) {
            lanes.emplace_back();
            for (std::uint32_t c = 0; c < width; ++c) lanes.back().push_back(PlaneId{(channel + c) * planes_per_channel + place});
        }
    }
    for (std::uint32_t k = 0; k < geometry.blocks_per_plane(); ++k) {
        for (const auto& lane : lanes) {
            if (!std::ranges::all_of(lane, [&](PlaneId plane) { return k < usable[plane.value()].size(); })) continue;
            for (const PlaneId plane : lane) {
                set_of_[usable[plane.value()][k].value()] = static_cast<std::uint32_t>(blocks_.size()) / width_;
                blocks_.push_back(usable[plane.value()][k]);
            }
        }
    }
}

std::uint32_t BlockSets::count_of(const NandConfig& nand, const Geometry& geometry, std::uint32_t width, std::span<const BlockId> set_aside) {
    const std::uint32_t planes_per_channel = geometry.planes() / geometry.channels();
    std::vector<std::uint32_t> usable(geometry.planes(), geometry.blocks_per_plane());
    for (const BlockId block : set_aside) --usable[geometry.plane_of(block).value()];
    const bool any = nand.factory_bad_per_million != 0 || backup_blocks_per_die(nand) != 0;
    for (std::uint32_t b = 0; any && b < geometry.blocks(); ++b)
        if (is_set_aside(nand, BlockId{b})) --usable[geometry.plane_of(BlockId{b}).value()];
    std::uint32_t sets = 0;
    for (std::uint32_t place = 0; place < planes_per_channel; ++place) {
        for (std::uint32_t channel = 0; channel < geometry.channels(); channel += width) {
            std::uint32_t least = geometry.blocks_per_plane();
            for (std::uint32_t c = 0; c < width; ++c) least = std::min(least, usable[(channel + c) * planes_per_channel + place]);
            sets += least;
        }
    }
    return sets;
}

std::optional<SetId> BlockSets::set_of(BlockId block) const {
    const std::uint32_t set = set_of_[block.value()];
    if (set == none) return std::nullopt;
    return SetId{set};
}

} // namespace flashlab
