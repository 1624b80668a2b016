#include "ftl/maps/page_groups.h"

namespace flashlab {

PageGroups::PageGroups(const PageBlocks& blocks, const VirtualUnits& numbers, std::uint32_t groups, std::uint32_t logical_pages)
    : blocks_{blocks}, numbers_{numbers}, groups_{groups}, logical_pages_{logical_pages}, log_turn_(groups, none), logs_on_(blocks.groups()),
      written_(groups) {
    const auto of_dies = static_cast<std::uint32_t>(numbers.stripe());
    stripe_ = std::min((least_stripe + of_dies - 1) / of_dies * of_dies, logical_pages);
    most_due_ = std::max(std::uint64_t{2} * stripe_, std::uint64_t{blocks.planes_in_use()} * blocks.units().units_per_block());
}

RowPlace PageGroups::place_in(std::uint32_t group, std::uint32_t pages) {
    const FrontierId log = blocks_.own_frontier(group);
    std::uint32_t& turn = log_turn_[group];
    if (turn != none && !open(turn, log).has_room()) turn = none; // it leaves the die, and does not count there
    if (turn == none) turn = turn_for_log(log);
    return {.run = {log, pages}, .group = numbers_.group_at(turn), .is_wish = true};
}

/// One where it is open, as after a mount; else the next die that has fewest logs.
std::uint32_t PageGroups::turn_for_log(FrontierId log) {
    std::ranges::fill(logs_on_, 0u);
    for (const std::uint32_t turn : log_turn_)
        if (turn != none) ++logs_on_[turn];
    const auto dies = static_cast<std::uint32_t>(logs_on_.size());
    for (std::uint32_t turn = 0; turn < dies; ++turn)
        if (open(turn, log).has_room()) return turn;
    std::uint32_t best = next_turn_ % dies;
    for (std::uint32_t i = 1; i < dies; ++i)
        if (const std::uint32_t turn = (next_turn_ + i) % dies; logs_on_[turn] < logs_on_[best]) best = turn;
    next_turn_ = best + 1;
    return best;
}

/// The one in which most was written.
void PageGroups::begin_group() {
    const auto most = std::ranges::max_element(written_);
    const auto group = static_cast<std::uint64_t>(most - written_.begin());
    *most = 0;
    const auto first_of = [this](std::uint64_t g) { return static_cast<std::uint32_t>((g * logical_pages_ + groups_ - 1) / groups_); };
    next_ = first_of(group);
    end_ = first_of(group + 1);
}

RowPlace PageGroups::place_in_order(std::uint32_t pages) {
    const FrontierId frontier = blocks_.own_frontier(groups_);
    const auto left_in_row = [&] { return numbers_.row() - open(order_turn_, frontier).next % numbers_.row(); };
    if (!open(order_turn_, frontier).has_room() || left_in_row() == numbers_.row()) order_turn_ = (order_turn_ + 1) % blocks_.groups();
    return {.run = {frontier, std::min(pages, left_in_row())}, .group = numbers_.group_at(order_turn_), .can_wait = true};
}

} // namespace flashlab
