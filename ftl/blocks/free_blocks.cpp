#include "ftl/blocks/free_blocks.h"

#include "base/contract.h"

namespace flashlab {

FreeBlocks::FreeBlocks(const Geometry& geometry)
    : geometry_{geometry}, erased_(geometry.planes()), garbage_(geometry.planes()), by_die_(geometry.dies()) {
    for (auto* rings : {&erased_, &garbage_})
        for (Ring& ring : *rings) ring.blocks.resize(geometry.blocks_per_plane());
}

void FreeBlocks::push(std::vector<Ring>& rings, BlockId block) {
    const PlaneId plane = geometry_.plane_of(block);
    Ring& ring = rings[plane.value()];
    ensure(count(plane) < geometry_.blocks_per_plane(), "a block is freed once");
    ring.blocks[(ring.first + ring.size) % ring.blocks.size()] = block.value() - geometry_.block_at(plane, 0).value();
    ++ring.size;
    ++by_die_[geometry_.die_of(plane).value()];
    ++total_;
}

BlockId FreeBlocks::pop(Ring& ring, PlaneId plane) {
    const BlockId block = geometry_.block_at(plane, ring.blocks[ring.first]);
    ring.first = (ring.first + 1) % static_cast<std::uint32_t>(ring.blocks.size());
    --ring.size;
    --by_die_[geometry_.die_of(plane).value()];
    --total_;
    return block;
}

std::optional<FreeBlock> FreeBlocks::take(PlaneId plane) {
    if (erased_[plane.value()].size != 0) return FreeBlock{pop(erased_[plane.value()], plane), true};
    if (garbage_[plane.value()].size != 0) return FreeBlock{pop(garbage_[plane.value()], plane), false};
    return std::nullopt;
}

std::optional<BlockId> FreeBlocks::next_of(PlaneId plane) const {
    const Ring& ring = erased_[plane.value()].size != 0 ? erased_[plane.value()] : garbage_[plane.value()];
    if (ring.size == 0) return std::nullopt;
    return geometry_.block_at(plane, ring.blocks[ring.first]);
}

std::vector<BlockId> FreeBlocks::list(const Ring& ring, PlaneId plane) const {
    std::vector<BlockId> out;
    for (std::uint32_t i = 0; i < ring.size; ++i) out.push_back(geometry_.block_at(plane, ring.blocks[(ring.first + i) % ring.blocks.size()]));
    return out;
}

} // namespace flashlab
