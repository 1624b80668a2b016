#include "base/calendar.h"

#include <algorithm>
#include <iterator>

#include "base/contract.h"

namespace flashlab {

Calendar::Calendar(Duration shortest) : shortest_{shortest} { ensure(shortest > Duration{0}, "Calendar: the shortest phase has a length"); }

/// Index of the first live reservation that ends after `time`; slots_.size() when none does.
std::size_t Calendar::first_ending_after(SimTime time) const {
    const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto at = std::partition_point(begin, slots_.end(), [time](const Slot& slot) { return slot.end <= time; });
    return static_cast<std::size_t>(at - slots_.begin());
}

SimTime Calendar::earliest_gap(SimTime from, Duration length) const {
    SimTime start = from;
    for (std::size_t at = first_ending_after(from); at < slots_.size(); ++at) {
        if (slots_[at].start - start >= length) return start;
        start = std::max(start, slots_[at].end);
    }
    return start;
}

Slot Calendar::reserve(SimTime from, Duration length) {
    const SimTime start = earliest(from, length);
    take(start, length);
    return {start, start + length};
}

void Calendar::take(SimTime start, Duration length) {
    if (length == Duration{0}) return;
    ensure(length > Duration{0}, "N3: a reservation has a length");
    const Slot slot{start, start + length};
    if (start >= last_end_) {
        if (head_ < slots_.size() && start - last_end_ < shortest_) {
            slots_.back().end = slot.end;
        } else {
            slots_.push_back(slot);
        }
        last_end_ = slot.end;
    } else {
        const std::size_t at = first_ending_after(start);
        ensure(at == slots_.size() || slots_[at].start >= slot.end, "N3: the resource is free for the whole phase");
        insert(at, slot);
    }
    busy_ += length;
}

/// Puts `slot` before slots_[at], joined with neighbours that touch or leave a gap nobody can use.
void Calendar::insert(std::size_t at, Slot slot) {
    const bool joins_before = at > head_ && slot.start - slots_[at - 1].end < shortest_;
    const bool joins_after = at < slots_.size() && slots_[at].start - slot.end < shortest_;
    if (joins_before && joins_after) {
        slots_[at - 1].end = slots_[at].end;
        slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (joins_before) {
        slots_[at - 1].end = slot.end;
    } else if (joins_after) {
        slots_[at].start = slot.start;
    } else if (at == head_ && head_ > 0) {
        slots_[--head_] = slot;
    } else {
        slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(at), slot);
    }
    last_end_ = std::max(last_end_, slot.end);
}

void Calendar::drop_past(SimTime now) {
    while (head_ < slots_.size() && slots_[head_].end <= now) ++head_;
    while (slots_.size() - head_ > max_live) {
        slots_[head_ + 1].start = slots_[head_].start;
        ++head_;
    }
    if (head_ == slots_.size()) {
        slots_.clear();
        head_ = 0;
    } else if (head_ >= max_live && head_ * 2 >= slots_.size()) {
        slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
}

} // namespace flashlab
