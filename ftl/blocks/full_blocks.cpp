#include "ftl/blocks/full_blocks.h"

#include <algorithm>

namespace flashlab {

FullBlocks::FullBlocks(const UnitGeometry& units)
    : units_{units}, lists_per_plane_{units.units_per_block() + 1}, lists_(std::size_t{units.geometry().planes()} * lists_per_plane_),
      filled_(units.geometry().planes()), places_(units.geometry().blocks()), hint_(units.geometry().planes(), lists_per_plane_) {}

void FullBlocks::append(std::uint32_t index, BlockId block) {
    List& list = lists_[index];
    const Link link = block.value() + 1;
    Place& here = place(link);
    here.previous = list.tail;
    here.next = none;
    (list.tail == none ? list.head : place(list.tail).next) = link;
    list.tail = link;
    here.list = index + 1;
    std::uint32_t& hint = hint_[index / lists_per_plane_];
    hint = std::min(hint, index % lists_per_plane_);
    here.changed_at = ++changes_;
}

void FullBlocks::take_out(BlockId block) {
    Place& here = places_[block.value()];
    List& list = lists_[here.list - 1];
    (here.previous == none ? list.head : place(here.previous).next) = here.next;
    (here.next == none ? list.tail : place(here.next).previous) = here.previous;
    here.list = none;
}

FullBlocks::List& FullBlocks::list(BlockId block, std::uint32_t valid) {
    ensure(!contains(block), "a block is collectable once");
    ensure(valid < lists_per_plane_, "no more valid units than units");
    const std::uint32_t plane = units_.geometry().plane_of(block).value();
    append(plane * lists_per_plane_ + valid, block);
    return filled_[plane];
}

void FullBlocks::join(List& order, BlockId block, Link previous, Link next) {
    const Link link = block.value() + 1;
    place(link).filled_previous = previous;
    place(link).filled_next = next;
    (previous == none ? order.head : place(previous).filled_next) = link;
    (next == none ? order.tail : place(next).filled_previous) = link;
}

void FullBlocks::add_again(BlockId block, std::uint32_t valid) {
    List& order = list(block, valid);
    join(order, block, none, order.head);
}

void FullBlocks::add(BlockId block, std::uint32_t valid) {
    List& order = list(block, valid);
    places_[block.value()].filled_at = changes_;
    join(order, block, order.tail, none);
}

void FullBlocks::remove(BlockId block) {
    ensure(contains(block), "only a collectable block is taken");
    const Place& here = place_of(block);
    List& order = filled_[(here.list - 1) / lists_per_plane_];
    take_out(block);
    (here.filled_previous == none ? order.head : place(here.filled_previous).filled_next) = here.filled_next;
    (here.filled_next == none ? order.tail : place(here.filled_next).filled_previous) = here.filled_previous;
}

void FullBlocks::update(BlockId block, std::uint32_t valid) {
    if (!contains(block)) return;
    ensure(valid < lists_per_plane_, "no more valid units than units");
    const std::uint32_t list = place_of(block).list - 1;
    take_out(block);
    append(list - list % lists_per_plane_ + valid, block);
}

std::uint32_t FullBlocks::valid_of(BlockId block) const {
    ensure(contains(block), "only collectable blocks have a list");
    return (place_of(block).list - 1) % lists_per_plane_;
}

std::optional<BlockId> FullBlocks::fewest_valid(PlaneId plane) const {
    std::uint32_t& hint = hint_[plane.value()];
    while (hint < lists_per_plane_) {
        const List& list = lists_[std::size_t{plane.value()} * lists_per_plane_ + hint];
        if (list.head != none) return at(list.head);
        ++hint;
    }
    return std::nullopt;
}

} // namespace flashlab
