/// The blocks that may be collected, by plane and number of valid units.
///
/// Idea       A list for each (plane, valid count); a block moves to the tail of the next list when a unit of it becomes invalid. Beside it the order
///            in which blocks were filled, and when each was last changed, counted in changes: what the victim policies ask for.
/// Invariant  A block is in at most one list, that of its own plane and count; among equals the one that came first is first.
/// Cost       O(1) a change; the fewest-valid search moves a hint and is O(1) amortised. 40 bytes a block that ever was here, 8 a (plane, count).
/// Power cut  RAM only, rebuilt from the block states.
#pragma once

#include <optional>
#include <vector>

#include "base/zeroed_allocator.h"
#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

class FullBlocks {
public:
    explicit FullBlocks(const UnitGeometry& units);
    void add(BlockId block, std::uint32_t valid);
    /// One that was taken and is given back: it is the first in the order again.
    void add_again(BlockId block, std::uint32_t valid);
    void remove(BlockId block);
    /// Nothing happens when the block is not here.
    void update(BlockId block, std::uint32_t valid);
    [[nodiscard]] bool contains(BlockId block) const { return place_of(block).list != none; }
    [[nodiscard]] std::uint32_t valid_of(BlockId block) const;
    [[nodiscard]] std::optional<BlockId> fewest_valid(PlaneId plane) const;
    /// In the order in which they were added; none after the last.
    [[nodiscard]] std::optional<BlockId> first_filled(PlaneId plane) const { return at(filled_[plane.value()].head); }
    [[nodiscard]] std::optional<BlockId> filled_after(BlockId block) const { return at(place_of(block).filled_next); }
    /// Grows with that order, over all planes.
    [[nodiscard]] std::uint64_t filled_at(BlockId block) const { return place_of(block).filled_at; }
    /// Changes of any block since this one was added or lost a valid unit.
    [[nodiscard]] std::uint64_t age(BlockId block) const { return changes_ - place_of(block).changed_at; }
    [[nodiscard]] const UnitGeometry& units() const { return units_; }

private:
    /// A block's or a list's number + 1: a table of zeros, which the host need not touch, says that nothing is here.
    using Link = std::uint32_t;
    static constexpr Link none = 0;
    struct List {
        Link head = none;
        Link tail = none;
    };
    struct Place {
        Link list;
        Link previous; ///< in that list
        Link next;
        Link filled_previous;
        Link filled_next;
        std::uint64_t filled_at;
        std::uint64_t changed_at;
    };
    [[nodiscard]] static std::optional<BlockId> at(Link link) { return link == none ? std::nullopt : std::optional{BlockId{link - 1}}; }
    [[nodiscard]] Place& place(Link link) { return places_[link - 1]; }
    [[nodiscard]] const Place& place_of(BlockId block) const { return places_[block.value()]; }
    void append(std::uint32_t index, BlockId block);
    /// Into the list of its count; the order that it is to join.
    List& list(BlockId block, std::uint32_t valid);
    /// Between two neighbours of the order; none at its ends.
    void join(List& order, BlockId block, Link previous, Link next);
    void take_out(BlockId block);
    UnitGeometry units_;
    std::uint32_t lists_per_plane_;
    std::vector<List> lists_;
    std::vector<List> filled_;   ///< by plane
    ZeroedVector<Place> places_; ///< by block
    std::uint64_t changes_ = 0;
    mutable std::vector<std::uint32_t> hint_; ///< no shorter list of the plane has a block
};

} // namespace flashlab
