/// The free blocks of each plane: those known to be erased, and garbage that is erased when it is taken.
///
/// Idea       Two first-in first-out rings a plane, so that blocks wear in turn; erased ones go first. Wear levelling brings the block it wants
///            forward.
/// Invariant  A block is in at most one ring, that of its own plane.
/// Cost       O(1), bring_forward() at most 32 comparisons; 8 bytes a block.
/// Power cut  RAM only, rebuilt from the block states.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "nand/geometry.h"

namespace flashlab {

struct FreeBlock {
    BlockId block;
    bool erased = false;
};

class FreeBlocks {
public:
    explicit FreeBlocks(const Geometry& geometry);
    void add_erased(BlockId block) { push(erased_, block); }
    void add_garbage(BlockId block) { push(garbage_, block); }
    [[nodiscard]] std::uint32_t count(PlaneId plane) const { return erased_[plane.value()].size + garbage_[plane.value()].size; }
    [[nodiscard]] std::uint32_t count_in(DieId die) const { return by_die_[die.value()]; }
    [[nodiscard]] std::uint32_t total() const { return total_; }
    [[nodiscard]] std::optional<FreeBlock> take(PlaneId plane);
    /// Among the blocks that are next in line, the best one goes first. For wear: better(a, b) tells whether a is to be taken rather than b.
    template <class Better>
    void bring_forward(PlaneId plane, Better&& better) {
        constexpr std::uint32_t most = 32;
        Ring& ring = erased_[plane.value()].size != 0 ? erased_[plane.value()] : garbage_[plane.value()];
        const auto place = [&ring](std::uint32_t i) { return (ring.first + i) % static_cast<std::uint32_t>(ring.blocks.size()); };
        std::uint32_t best = 0;
        for (std::uint32_t i = 1; i < std::min(ring.size, most); ++i) {
            if (better(geometry_.block_at(plane, ring.blocks[place(i)]), geometry_.block_at(plane, ring.blocks[place(best)]))) best = i;
        }
        if (best != 0) std::swap(ring.blocks[place(0)], ring.blocks[place(best)]);
    }
    /// What take() would give.
    [[nodiscard]] std::optional<BlockId> next_of(PlaneId plane) const;
    /// Those of the plane in the order in which take() gives them, until visit(block) returns false.
    template <class Visit>
    void visit(PlaneId plane, Visit&& visit) const {
        for (const auto* rings : {&erased_, &garbage_}) {
            const Ring& ring = (*rings)[plane.value()];
            for (std::uint32_t i = 0; i < ring.size; ++i)
                if (!visit(geometry_.block_at(plane, ring.blocks[(ring.first + i) % ring.blocks.size()]))) return;
        }
    }
    /// Every block of one kind of the plane, oldest first.
    [[nodiscard]] std::vector<BlockId> erased_of(PlaneId plane) const { return list(erased_[plane.value()], plane); }
    [[nodiscard]] std::vector<BlockId> garbage_of(PlaneId plane) const { return list(garbage_[plane.value()], plane); }

private:
    struct Ring {
        std::vector<std::uint32_t> blocks; ///< index in the plane
        std::uint32_t first = 0;
        std::uint32_t size = 0;
    };
    void push(std::vector<Ring>& rings, BlockId block);
    BlockId pop(Ring& ring, PlaneId plane);
    [[nodiscard]] std::vector<BlockId> list(const Ring& ring, PlaneId plane) const;
    Geometry geometry_;
    std::vector<Ring> erased_;
    std::vector<Ring> garbage_;
    std::vector<std::uint32_t> by_die_;
    std::uint32_t total_ = 0;
};

} // namespace flashlab
