#include "base/calendar.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

namespace {

/// How many of these reservations end by `time`: the first ones.
std::size_t ended_by(std::span<const Slot> slots, SimTime time) {
    const Slot* first = slots.data();
    for (std::size_t left = slots.size(); left != 0;) {
        const std::size_t half = (left + 1) / 2;
        first += first[half - 1].end <= time ? half : 0;
        left -= half;
    }
    return static_cast<std::size_t>(first - slots.data());
}

} // namespace

Calendar::Calendar(Duration shortest, std::size_t max_live) : shortest_{shortest}, max_live_{max_live} {
    ensure(shortest > Duration{0}, "Calendar: the shortest phase has a length");
    ensure(max_live > 0, "Calendar: the last reservation is kept");
}

/// Index of the first live reservation that ends after `time`; slots_.size() when none does. Most callers ask for a time near the last search's.
std::size_t Calendar::first_ending_after(SimTime time) const {
    constexpr int most_steps = 4;
    std::size_t at = std::clamp<std::size_t>(near_, head_, slots_.size());
    for (int step = 0; step < most_steps; ++step) {
        if (at > head_ && slots_[at - 1].end > time)
            --at;
        else if (at < slots_.size() && slots_[at].end <= time)
            ++at;
        else
            return come_near(at);
    }
    return come_near(search(time));
}

/// Others ask for one of the oldest two, before what collections reserved ahead, or for one of the newest two.
std::size_t Calendar::search(SimTime time) const {
    const std::size_t size = slots_.size();
    const std::size_t oldest = std::min<std::size_t>(head_ + 2, size);
    for (std::size_t at = head_; at < oldest; ++at)
        if (slots_[at].end > time) return at;
    if (size - oldest >= 2 && slots_[size - 2].end <= time) return slots_.back().end <= time ? size : size - 1;
    return oldest + ended_by(std::span{slots_}.subspan(oldest), time);
}

SimTime Calendar::earliest_gap(SimTime from, Duration length, Duration apart) const {
    SimTime start = from;
    std::size_t at = first_ending_after(from);
    if (at > head_) start = std::max(start, slots_[at - 1].end + apart);
    for (; at < slots_.size(); ++at) {
        if (slots_[at].start - start >= length) break;
        start = std::max(start, slots_[at].end + apart);
    }
    come_near(at);
    return start;
}

/// No rest is shorter than a piece may be.
Slot Calendar::next_piece(SimTime from, Duration left, Duration least) const {
    if (from >= last_end_) return {from, from + left}; // behind everything, as most are
    least = std::min(least, left);
    for (SimTime start = earliest(from, least);;) {
        const std::size_t at = first_ending_after(start);
        Duration piece = at == slots_.size() ? left : std::min(left, slots_[at].start - start);
        if (left - piece > Duration{0} && left - piece < least) piece = left - least;
        if (piece >= least) return {start, start + piece};
        start = earliest(slots_[at].end, least);
    }
}

/// Each piece is told before the next one is looked for.
template <class Tell>
Slot Calendar::for_each_piece(SimTime from, Duration length, Duration least, const Tell& tell) const {
    if (length == Duration{0}) return {from, from};
    ensure(least > Duration{0}, "pieces of no length never end");
    Slot piece = next_piece(from, length, least);
    const SimTime start = piece.start;
    for (Duration left = length;; piece = next_piece(piece.end, left, least)) {
        tell(piece);
        left -= piece.end - piece.start;
        if (left == Duration{0}) return {start, piece.end};
    }
}

Slot Calendar::earliest_in_pieces(SimTime from, Duration length, Duration least) const {
    return for_each_piece(from, length, least, [](Slot) {});
}

Slot Calendar::reserve_in_pieces(SimTime from, Duration length, Duration least) {
    return for_each_piece(from, length, least, [this](Slot piece) { take(piece.start, piece.end - piece.start); });
}

bool Calendar::is_full(SimTime from, Duration span) const {
    const SimTime until = from + span - span / 8;
    Duration free = span / 8;
    for (std::size_t at = first_ending_after(from); at < slots_.size() && from < until && free >= Duration{0}; ++at) {
        free -= std::max(Duration{0}, slots_[at].start - from);
        from = slots_[at].end;
    }
    return free >= Duration{0};
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
        append(slot);
    } else {
        const std::size_t at = first_ending_after(start);
        ensure(at == slots_.size() || slots_[at].start >= slot.end, "N3: the resource is free for the whole phase");
        insert(at, slot);
    }
    busy_ += length;
}

Duration Calendar::busy_before(SimTime at) const {
    Duration later{0};
    for (std::size_t i = slots_.size(); i-- > head_ && slots_[i].end > at;) {
        const Slot& slot = slots_[i];
        const Duration length = slot.end - slot.start, behind = slot.end - std::max(slot.start, at);
        const Duration gaps = i == head_ ? std::min(forgotten_, length) : Duration{0};
        later += Duration{static_cast<std::int64_t>(static_cast<double>(behind.count()) * static_cast<double>((length - gaps).count()) /
                                                    static_cast<double>(length.count()))};
    }
    return busy_ - std::min(later, busy_);
}

/// Adds `slot`, which begins behind everything reserved.
void Calendar::append(Slot slot) {
    if (head_ < slots_.size() && slot.start - last_end_ < shortest_) {
        slots_.back().end = slot.end;
    } else {
        slots_.push_back(slot);
    }
    last_end_ = slot.end;
}

/// Some steps would be forgotten by the end of the run. Their slots, with everything before them, become one slot at once.
void Calendar::take_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases) {
    const Phase& first = phases.front();
    const Phase& last = phases.back();
    ensure(start + first.offset >= last_end_, "N3: a run comes behind everything reserved");
    ensure(step >= last.offset + last.length - first.offset, "N3: the steps of a run do not overlap");
    std::size_t slots = 1;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        busy_ += static_cast<std::int64_t>(count) * phases[i].length;
        if (i > 0 && phases[i].offset - (phases[i - 1].offset + phases[i - 1].length) >= shortest_) ++slots;
    }
    const bool parted = step + first.offset - (last.offset + last.length) >= shortest_;
    const auto kept = static_cast<std::uint32_t>(max_live_ / slots + 3);
    std::uint32_t at = 0;
    if (!parted && slots == 1) { // one reservation from beginning to end
        append({start + first.offset, start + (count - 1) * step + last.offset + last.length});
        if (count > 1 || phases.size() > 1) forget_oldest();
        at = count;
    } else if (parted && count > kept) {
        at = count - kept;
        const Slot forgotten{head_ < slots_.size() ? slots_[head_].start : start + first.offset, start + (at - 1) * step + last.offset + last.length};
        Duration reserved{0};
        for (const Phase& phase : phases) reserved += static_cast<std::int64_t>(at) * phase.length;
        for (std::size_t i = head_; i < slots_.size(); ++i) reserved += slots_[i].end - slots_[i].start;
        forgotten_ += forgotten.end - forgotten.start - reserved;
        slots_.clear();
        head_ = 0;
        append(forgotten);
    }
    for (; at < count; ++at) {
        for (const Phase& phase : phases) {
            if (phase.settles) forget_oldest();
            const SimTime begin = start + at * step + phase.offset;
            append({begin, begin + phase.length});
        }
    }
    drop_dead();
}

/// A gap is forgotten when as many reservations as settle() keeps lie behind it.
std::uint32_t Calendar::steps_free(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases) const {
    std::size_t next = first_ending_after(start);
    if (slots_.size() - next >= max_live_) return 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const Phase& phase : phases) {
            const SimTime begin = start + i * step + phase.offset;
            while (next < slots_.size() && slots_[next].end <= begin) ++next;
            if (next > head_ && begin - slots_[next - 1].end < phase.apart) return i;
            if (next == slots_.size()) return count;
            if (slots_[next].start < begin + phase.length) return i;
        }
    }
    return count;
}

/// One pass: the reservations behind `start` move to `scratch` and come back between the phases.
void Calendar::weave_run(SimTime start, Duration step, std::uint32_t count, std::span<const Phase> phases, std::vector<Slot>& scratch) {
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(first_ending_after(start));
    scratch.assign(first, slots_.end());
    slots_.erase(first, slots_.end());
    ensure(scratch.size() < max_live_, "steps_free() said so");
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const Phase& phase : phases) {
            if (phase.settles) forget_oldest(scratch.size() - next);
            Slot slot{start + i * step + phase.offset, start + i * step + phase.offset + phase.length};
            for (; next < scratch.size() && scratch[next].end <= slot.start; ++next) slots_.push_back(scratch[next]);
            ensure(next == scratch.size() || scratch[next].start >= slot.end, "N3: the resource is free for the whole phase");
            busy_ += phase.length;
            const bool joins_after = next < scratch.size() && scratch[next].start - slot.end < shortest_;
            if (joins_after) slot.end = scratch[next++].end;
            if (slots_.size() > head_ && slot.start - slots_.back().end < shortest_)
                slots_.back().end = slot.end;
            else
                slots_.push_back(slot);
            last_end_ = std::max(last_end_, slot.end);
        }
    }
    slots_.insert(slots_.end(), scratch.begin() + static_cast<std::ptrdiff_t>(next), scratch.end());
    drop_dead();
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
    } else if (head_ > 0 && at - head_ <= slots_.size() - at) { // there is room before the head: the shorter part moves
        const auto head = slots_.begin() + static_cast<std::ptrdiff_t>(head_);
        *std::move(head, slots_.begin() + static_cast<std::ptrdiff_t>(at), head - 1) = slot;
        --head_;
    } else {
        slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(at), slot);
    }
    last_end_ = std::max(last_end_, slot.end);
}

void Calendar::drop_past(SimTime now) {
    for (; head_ < slots_.size() && slots_[head_].end <= now; ++head_) forgotten_ = Duration{0};
    forget_oldest();
    if (head_ == slots_.size() || head_ >= max_live_) drop_dead();
}

/// `behind`: how many later reservations are kept in weave_run()'s scratch memory for the moment.
void Calendar::forget_oldest(std::size_t behind) {
    while (slots_.size() - head_ + behind > max_live_) {
        forgotten_ += slots_[head_ + 1].start - slots_[head_].end;
        slots_[head_ + 1].start = slots_[head_].start;
        ++head_;
    }
}

void Calendar::drop_dead() {
    if (head_ == slots_.size()) {
        slots_.clear();
        head_ = 0;
    } else if (head_ >= max_live_ && head_ * 2 >= slots_.size()) {
        near_ -= std::min(near_, head_);
        slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
}

} // namespace flashlab
