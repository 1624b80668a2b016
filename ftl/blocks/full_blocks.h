/// The blocks that may be collected, by plane and number of valid units.
///
/// Idea       A list for each (plane, valid count); a block moves to the tail of the next list when a unit of it becomes invalid.
/// Invariant  A block is in at most one list, that of its own plane and count; among equals the one that came first is first.
/// Cost       O(1) a change; the fewest-valid search moves a hint and is O(1) amortised. 12 bytes a block, 8 a (plane, count).
/// Power cut  RAM only, rebuilt from the block states.
#pragma once

#include <optional>
#include <vector>

#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

class FullBlocks {
public:
    explicit FullBlocks(const UnitGeometry& units);
    void add(BlockId block, std::uint32_t valid);
    void remove(BlockId block);
    /// Nothing happens when the block is not here.
    void update(BlockId block, std::uint32_t valid);
    [[nodiscard]] bool contains(BlockId block) const { return list_of_[block.value()] != none; }
    [[nodiscard]] std::uint32_t valid_of(BlockId block) const;
    [[nodiscard]] std::optional<BlockId> fewest_valid(PlaneId plane) const;

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct List {
        std::uint32_t head = none;
        std::uint32_t tail = none;
    };
    UnitGeometry units_;
    std::uint32_t lists_per_plane_;
    std::vector<List> lists_;
    std::vector<std::uint32_t> previous_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> list_of_;
    mutable std::vector<std::uint32_t> hint_; ///< no shorter list of the plane has a block
};

} // namespace flashlab
