#include "ftl/maps/virtual_units.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace flashlab {

VirtualUnits::VirtualUnits(const PageBlocks& blocks)
    : blocks_{blocks}, planes_{blocks.units().geometry().planes_per_die()}, dies_{blocks.groups()}, row_{std::max(blocks.most_at_once(), planes_)},
      turn_of_(dies_, none), lanes_(std::size_t{blocks.frontiers()} * dies_), set_of_(blocks.units().geometry().blocks(), none) {
    for (const DieId die : blocks.turns()) {
        std::uint32_t& turn = turn_of_[die.value()];
        if (turn != none) continue;
        turn = static_cast<std::uint32_t>(group_at_.size());
        group_at_.push_back(GroupId{die.value()});
    }
    ensure(group_at_.size() == dies_, "each group has its turn");
    for (std::uint64_t chunk = 1; dies_ > 1 && chunk < row_; chunk *= 2) chunks_.push_back(chunk);
    if (dies_ > 1) chunks_.push_back(row_);
    chunks_.push_back(std::uint64_t{1} << 32);
}

std::uint64_t VirtualUnits::reached(std::uint32_t lane) const {
    const Lane& of = lanes_[lane];
    const OpenSuperblock& open = blocks_.open(group_at_[lane % dies_], FrontierId{lane / dies_});
    return open.is_active() && open.stamp == of.stamp ? of.first + open.next : of.end;
}

/// Dies before this one have written their part of the stripe under way, dies behind it have not.
std::uint64_t VirtualUnits::first_of_next(std::uint32_t frontier, std::uint32_t turn) const {
    const auto whole_rows = [this](std::uint64_t units) { return (units + row_ - 1) / row_ * row_; };
    std::uint64_t first = whole_rows(lanes_[lane_of(frontier, turn)].end);
    for (std::uint32_t other = 0; other < dies_; ++other) {
        const std::uint64_t position = other == turn ? 0 : reached(lane_of(frontier, other));
        if (position != 0) first = std::max(first, whole_rows(position) - (other < turn ? row_ : 0));
    }
    return first;
}

void VirtualUnits::opened(const OpenSuperblock& set) {
    if (blocks_.kind_of_frontier(set.frontier) != 0) return;
    const std::uint32_t frontier = set.frontier.value(), turn = turn_of_[blocks_.group_of(set.columns.front().block).value()];
    const std::uint64_t first = first_of_next(frontier, turn);
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(sets_.size()));
        sets_.emplace_back();
        columns_.resize(columns_.size() + planes_, none);
    }
    const std::uint32_t s = unused_.back();
    unused_.pop_back();
    const auto columns = static_cast<std::uint32_t>(set.columns.size());
    Lane& lane = lanes_[lane_of(frontier, turn)];
    sets_[s] = {first, set.units, columns, set.depth, lane_of(frontier, turn), columns};
    for (std::uint32_t c = 0; c < columns; ++c) {
        const std::uint32_t block = set.columns[c].block.value();
        erased(set.columns[c].block); // it was, or is of a superblock that could not be written
        columns_[std::size_t{s} * planes_ + c] = block;
        set_of_[block] = s;
    }
    lane.sets.push_back(s);
    lane.first = first;
    lane.end = first + set.units;
    lane.stamp = set.stamp;
}

void VirtualUnits::erased(BlockId block) {
    const std::uint32_t s = std::exchange(set_of_[block.value()], none);
    if (s == none) return;
    for (std::uint32_t c = 0; c < sets_[s].columns; ++c)
        if (std::uint32_t& column = columns_[std::size_t{s} * planes_ + c]; column == block.value()) column = none;
    if (--sets_[s].blocks != 0) return;
    std::erase(lanes_[sets_[s].lane].sets, s);
    unused_.push_back(s);
}

std::optional<VirtualUnits::Place> VirtualUnits::place_of(UnitId unit) const {
    const BlockId block = blocks_.units().block_of(unit);
    const std::uint32_t s = set_of_[block.value()];
    if (s == none) return std::nullopt;
    const Set& set = sets_[s];
    const auto columns = columns_of(s);
    const auto column = static_cast<std::uint32_t>(std::ranges::find(columns, block.value()) - columns.begin());
    const std::uint32_t row = blocks_.units().index_in_block(unit);
    return Place{set.lane / dies_, set.lane % dies_,
                 set.first + (std::uint64_t{row / set.depth} * set.columns + column) * set.depth + row % set.depth};
}

std::optional<UnitId> VirtualUnits::unit_at(const Place& place) const {
    const std::vector<std::uint32_t>& sets = lanes_[lane_of(place.frontier, place.turn)].sets;
    const auto behind = std::ranges::upper_bound(sets, place.position, {}, [this](std::uint32_t s) { return sets_[s].first; });
    if (behind == sets.begin()) return std::nullopt;
    const std::uint32_t s = *std::prev(behind);
    const Set& set = sets_[s];
    const std::uint64_t at = place.position - set.first;
    if (at >= set.units) return std::nullopt;
    const auto in_row = static_cast<std::uint32_t>(at % (set.columns * set.depth)), row = static_cast<std::uint32_t>(at / (set.columns * set.depth));
    const std::uint32_t block = columns_of(s)[in_row / set.depth];
    if (block == none) return std::nullopt;
    return blocks_.units().unit_at(BlockId{block}, row * set.depth + in_row % set.depth);
}

} // namespace flashlab
