#include "ftl/blocks/full_blocks.h"

#include <algorithm>

namespace flashlab {

FullBlocks::FullBlocks(const UnitGeometry& units)
    : units_{units},
      lists_per_plane_{units.units_per_block() + 1},
      lists_(std::size_t{units.geometry().planes()} * lists_per_plane_),
      previous_(units.geometry().blocks(), none),
      next_(units.geometry().blocks(), none),
      list_of_(units.geometry().blocks(), none),
      filled_(units.geometry().planes()),
      filled_previous_(units.geometry().blocks(), none),
      filled_next_(units.geometry().blocks(), none),
      filled_at_(units.geometry().blocks(), 0),
      changed_at_(units.geometry().blocks(), 0),
      hint_(units.geometry().planes(), lists_per_plane_) {}

void FullBlocks::append(std::uint32_t index, BlockId block) {
    List& list = lists_[index];
    const std::uint32_t b = block.value();
    previous_[b] = list.tail;
    next_[b] = none;
    if (list.tail == none) list.head = b;
    else next_[list.tail] = b;
    list.tail = b;
    list_of_[b] = index;
    std::uint32_t& hint = hint_[index / lists_per_plane_];
    hint = std::min(hint, index % lists_per_plane_);
    changed_at_[b] = ++changes_;
}

void FullBlocks::take_out(BlockId block) {
    const std::uint32_t b = block.value();
    List& list = lists_[list_of_[b]];
    if (previous_[b] == none) list.head = next_[b];
    else next_[previous_[b]] = next_[b];
    if (next_[b] == none) list.tail = previous_[b];
    else previous_[next_[b]] = previous_[b];
    list_of_[b] = none;
}

void FullBlocks::add(BlockId block, std::uint32_t valid) {
    ensure(!contains(block), "a block is collectable once");
    ensure(valid < lists_per_plane_, "no more valid units than units");
    const std::uint32_t plane = units_.geometry().plane_of(block).value();
    append(plane * lists_per_plane_ + valid, block);
    List& order = filled_[plane];
    const std::uint32_t b = block.value();
    filled_at_[b] = changes_;
    filled_previous_[b] = order.tail;
    filled_next_[b] = none;
    if (order.tail == none) order.head = b;
    else filled_next_[order.tail] = b;
    order.tail = b;
}

void FullBlocks::remove(BlockId block) {
    ensure(contains(block), "only a collectable block is taken");
    const std::uint32_t b = block.value();
    List& order = filled_[list_of_[b] / lists_per_plane_];
    take_out(block);
    if (filled_previous_[b] == none) order.head = filled_next_[b];
    else filled_next_[filled_previous_[b]] = filled_next_[b];
    if (filled_next_[b] == none) order.tail = filled_previous_[b];
    else filled_previous_[filled_next_[b]] = filled_previous_[b];
}

void FullBlocks::update(BlockId block, std::uint32_t valid) {
    if (!contains(block)) return;
    ensure(valid < lists_per_plane_, "no more valid units than units");
    const std::uint32_t first = list_of_[block.value()] / lists_per_plane_ * lists_per_plane_;
    take_out(block);
    append(first + valid, block);
}

std::uint32_t FullBlocks::valid_of(BlockId block) const {
    ensure(contains(block), "only collectable blocks have a list");
    return list_of_[block.value()] % lists_per_plane_;
}

std::optional<BlockId> FullBlocks::fewest_valid(PlaneId plane) const {
    std::uint32_t& hint = hint_[plane.value()];
    while (hint < lists_per_plane_) {
        const List& list = lists_[std::size_t{plane.value()} * lists_per_plane_ + hint];
        if (list.head != none) return BlockId{list.head};
        ++hint;
    }
    return std::nullopt;
}

} // namespace flashlab
