#include "ftl/blocks/block_sets.h"

#include <algorithm>

#include "base/contract.h"
#include "nand/pair_backup.h"
#include "nand/seen_blocks.h"

namespace flashlab {

namespace {

/// A set's place: a plane of each of its columns.
using Lane = std::vector<PlaneId>;

/// Lanes of one place within the channel lie side by side, so that sets in turn use all channels first.
std::vector<Lane> lanes_of(const Geometry& geometry, std::uint32_t width, std::uint32_t planes_a_channel) {
    const std::uint32_t planes_per_channel = geometry.planes() / geometry.channels();
    const std::uint32_t channels = width / planes_a_channel;
    std::vector<Lane> lanes;
    for (std::uint32_t place = 0; place < planes_per_channel; place += planes_a_channel) {
        for (std::uint32_t channel = 0; channel < geometry.channels(); channel += channels) {
            lanes.emplace_back();
            for (std::uint32_t column = 0; column < width; ++column) {
                const std::uint32_t of_channel = (channel + column / planes_a_channel) * planes_per_channel;
                lanes.back().push_back(PlaneId{of_channel + place + column % planes_a_channel});
            }
        }
    }
    return lanes;
}

} // namespace

std::optional<std::string> BlockSets::refusal(const NandConfig& nand, const Geometry& geometry, std::uint32_t width) {
    const std::uint32_t at_once = planes_at_once(nand);
    if (at_once > 1 && geometry.planes_per_die() % at_once != 0) return "two-plane commands need an even number of planes a die";
    if (width % at_once != 0) return "two-plane commands fill a set in pairs of blocks: its width is even";
    if (width == 0 || geometry.channels() % (width / at_once) != 0) return "its channels must divide those of the device";
    return std::nullopt;
}

BlockSets::BlockSets(const NandConfig& nand, const Geometry& geometry, std::uint32_t width, std::span<const BlockId> set_aside)
    : width_{width}, set_of_(geometry.blocks(), none) {
    ensure(!refusal(nand, geometry, width), "a set's width divides the channels");
    std::vector<std::vector<BlockId>> usable(geometry.planes());
    std::vector<bool> aside(geometry.blocks(), false);
    for (const BlockId block : set_aside) aside[block.value()] = true;
    const SeenBlocks seen{nand};
    const auto is_usable = [&](BlockId block) { return !aside[block.value()] && !seen.is_set_aside(block); };
    const std::uint32_t at_once = planes_at_once(nand);
    for (std::uint32_t p = 0; p < geometry.planes(); ++p) {
        // A two-plane command reaches one block offset: where one block of a pair is missing, the other is left over.
        const PlaneId neighbour{at_once == 1 ? p : p ^ 1};
        for (std::uint32_t i = 0; i < geometry.blocks_per_plane(); ++i) {
            const BlockId block = geometry.block_at(PlaneId{p}, i);
            if (is_usable(block) && is_usable(geometry.block_at(neighbour, i))) usable[p].push_back(block);
        }
    }
    const std::vector<Lane> lanes = lanes_of(geometry, width, at_once);
    for (std::uint32_t k = 0; k < geometry.blocks_per_plane(); ++k) {
        for (const Lane& lane : lanes) {
            if (!std::ranges::all_of(lane, [&](PlaneId plane) { return k < usable[plane.value()].size(); })) continue;
            for (const PlaneId plane : lane) {
                set_of_[usable[plane.value()][k].value()] = static_cast<std::uint32_t>(blocks_.size()) / width_;
                blocks_.push_back(usable[plane.value()][k]);
            }
        }
    }
}

std::uint32_t BlockSets::count_of(const NandConfig& nand, const Geometry& geometry, std::uint32_t width, std::span<const BlockId> set_aside) {
    if (planes_at_once(nand) > 1) return BlockSets{nand, geometry, width, set_aside}.count();
    std::vector<std::uint32_t> usable(geometry.planes(), geometry.blocks_per_plane());
    for (const BlockId block : set_aside) --usable[geometry.plane_of(block).value()];
    const bool any = nand.factory_bad_per_million != 0 || backup_blocks_per_die(nand) != 0;
    const SeenBlocks seen{nand};
    for (std::uint32_t b = 0; any && b < geometry.blocks(); ++b)
        if (seen.is_set_aside(BlockId{b})) --usable[geometry.plane_of(BlockId{b}).value()];
    std::uint32_t sets = 0;
    for (const Lane& lane : lanes_of(geometry, width, 1)) {
        std::uint32_t least = geometry.blocks_per_plane();
        for (const PlaneId plane : lane) least = std::min(least, usable[plane.value()]);
        sets += least;
    }
    return sets;
}

std::optional<SetId> BlockSets::set_of(BlockId block) const {
    const std::uint32_t set = set_of_[block.value()];
    if (set == none) return std::nullopt;
    return SetId{set};
}

} // namespace flashlab
