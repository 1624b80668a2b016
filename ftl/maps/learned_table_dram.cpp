/// What of a learned table is in DRAM, and its way to translation pages.
#include <algorithm>
#include <utility>

#include "ftl/maps/learned_table.h"

namespace flashlab {

void LearnedTable::link(Group& group, std::uint32_t colder) {
    group.colder = colder;
    group.hotter = colder == none ? coldest_ : std::exchange(groups_[colder].hotter, none);
    (group.colder == none ? coldest_ : groups_[group.colder].hotter) = number_of(group);
    (group.hotter == none ? hottest_ : groups_[group.hotter].colder) = number_of(group);
}

void LearnedTable::unlink(Group& group) {
    (group.colder == none ? coldest_ : groups_[group.colder].hotter) = group.hotter;
    (group.hotter == none ? hottest_ : groups_[group.hotter].colder) = group.colder;
}

void LearnedTable::touch(Group& group) {
    if (group.charged == 0 || group.hotter == none) return;
    unlink(group);
    link(group, hottest_);
}

/// A group that nobody has used, only collections have, is the coldest.
void LearnedTable::charge(Group& group) {
    const std::uint32_t bytes = bytes_of(group);
    if (group.charged == 0 && bytes != 0) link(group, none);
    if (group.charged != 0 && bytes == 0) unlink(group);
    used_ = used_ + bytes - group.charged;
    group.charged = bytes;
    learned_.most_bytes = std::max(learned_.most_bytes, used_);
}

FtlResult<SimTime> LearnedTable::make_room(std::uint64_t bytes, const Io& io) {
    SimTime at = io.when;
    while (used_ + bytes > bytes_ + excused()) {
        if (coldest_ == none) {
            if (waiting_.empty()) break;
            learn();
            continue;
        }
        Group& victim = groups_[coldest_];
        if (!victim.has_news()) {
            victim.is_here = false;
            if (ghost_) ghost_->evicted(number_of(victim));
            charge(victim);
            ++counted_.map_evictions;
            continue;
        }
        if (parts_.blocks.is_read_only()) break;
        ++counted_.map_dirty_evictions;
        const auto done = update(coldest_ / shape_.groups, io.at(at));
        if (!done && done.error().kind == FtlErrorKind::no_free_block) break; // above its size until a collection has made room
        if (!done) return done;
        if (ghost_ && victim.charged == 0) ghost_->evicted(number_of(victim));
        at = std::max(at, *done);
    }
    return at;
}

/// As it is to lie on flash; nothing where no payload is kept.
std::span<const std::byte> LearnedTable::content(std::span<const Group> groups) {
    if (!parts_.array.keeps_payload()) return {};
    page_.assign(parts_.blocks.units().bytes_per_unit(), std::byte{0});
    LittleEndianWriter out{page_};
    for (const Group& group : groups) group.all.encode(out);
    return page_;
}

FtlResult<SimTime> LearnedTable::update(std::uint32_t page, const Io& io) {
    const UnitGeometry& units = parts_.blocks.units();
    const std::span<Group> groups = groups_of(page);
    for (const Group& group : groups) group.all.prefetch();
    for (;;) {
        if (const auto room = pages_.make_room(page, io.when); !room) return room;
        if (std::ranges::none_of(groups, &Group::has_news)) { // a collection that made the room has written them
            for (Group& group : groups) written(group);
            return io.when;
        }
        SimTime at = io.when;
        if (pages_.exists(page) && !std::ranges::all_of(groups, &Group::is_here)) {
            const auto old = pages_.read(page, io);
            if (!old) return old;
            at = *old;
        }
        for (Group& group : groups) { // until it is written it is here as a whole
            if (!group.has_news()) continue;
            group.leaves = !group.is_here;
            if (group.leaves) take_in(group);
            // What hides much, or would not fit, is compacted.
            if (group.all.levels() > 4 || group.all.encoded_bytes() > SegmentLevels::encoded_bytes_at_most(shape_.pages)) group.all.compact(true);
            charge(group);
            group.all.for_each([&](const Segment& s) {
                if (s.is_hole()) return;
                if (const SimTime by = parts_.blocks.programmed_by(units.block_of(UnitId{s.intercept})); by > at) at = by;
            });
        }
        const auto done = pages_.program(page, content(groups), io.at(at));
        if (!done) return std::unexpected(done.error());
        if (!*done) continue;
        costs_.batch_update(static_cast<std::uint32_t>(std::ranges::count_if(groups, &Group::has_news)));
        for (Group& group : groups) {
            group.is_dirty = false;
            if (std::exchange(group.leaves, false) && used_ > bytes_) group.is_here = false;
            written(group);
        }
        ++counted_.batch_updates;
        programmed(**done);
        return **done;
    }
}

void LearnedTable::written(Group& group) {
    moved_ -= std::exchange(group.moved, 0);
    charge(group);
}

/// A share of the translation pages of which collections moved something, with so many pages of the host: as DemandTable's. What fits the DRAM stays.
FtlResult<void> LearnedTable::keep_pace(std::uint32_t pages, const Io& io) {
    constexpr std::uint64_t most_a_page = 8;
    const std::uint64_t let_be = most_moved_ / 2;
    if (moved_ <= let_be || used_ <= bytes_) return {};
    learn();
    const std::uint64_t due = ((moved_ - let_be) * pages * 2 * most_a_page + most_moved_ - 1) / most_moved_;
    for (std::uint64_t i = 0; i < due && moved_ > let_be && used_ > bytes_ && !parts_.blocks.is_read_only();) {
        const std::uint32_t oldest = moved_groups_.front();
        if (groups_[oldest].moved == 0) {
            moved_groups_.pop_front();
            continue;
        }
        const auto done = update(oldest / shape_.groups, io);
        if (!done && done.error().kind == FtlErrorKind::no_free_block) break; // there until there is room
        if (!done) return std::unexpected(done.error());
        ++i;
    }
    return {};
}

} // namespace flashlab
