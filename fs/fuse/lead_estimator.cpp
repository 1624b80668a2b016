#include "fs/fuse/lead_estimator.h"

#include <algorithm>

namespace flashlab {

LeadClass LeadClass::of(Kind kind, std::uint64_t bytes) {
    LeadClass what{.kind = kind, .size = 0};
    if (kind == Kind::plain) return what;
    while (what.size < 4 && bytes > what.largest_bytes()) ++what.size;
    return what;
}

LeadClass LeadEstimator::class_at(std::size_t index) {
    return {.kind = static_cast<LeadClass::Kind>(index / sizes), .size = static_cast<std::uint8_t>(index % sizes)};
}

void LeadEstimator::begin(const RoundTrips& measured) {
    measured_ = measured;
    forget();
}

void LeadEstimator::forget() {
    newest_ = {};
    step_.store(0, std::memory_order_relaxed);
    for (std::size_t index = 0; index < classes; ++index) {
        turnarounds_[index].seen = 0;
        leads_[index].store(at_first(class_at(index)).count(), std::memory_order_relaxed);
    }
}

/// The lead before there are turnarounds. A write has one round trip more: the kernel asks for security.capability first.
WallClock::duration LeadEstimator::at_first(LeadClass what) const {
    return what.kind == LeadClass::Kind::write ? 2 * measured_.fastest : measured_.fastest;
}

/// The upper bound of the lead. A copy counts twice, as the pages of the caller's buffer are looked up, too. A write has the trip of the question
/// before it, and its own takes twice as long as a question's (18 us beside 10): pages are pinned before it and dropped after it.
WallClock::duration LeadEstimator::at_most(LeadClass what) const {
    const auto trips = what.kind == LeadClass::Kind::write ? 3 * measured_.usual : measured_.usual;
    const auto bytes = what.kind == LeadClass::Kind::plain ? 0 : what.largest_bytes();
    return trips + 2 * measured_.copy_of_mib * static_cast<WallClock::duration::rep>(bytes / 1024) / 1024;
}

void LeadEstimator::arrived(std::uint64_t caller, LeadClass what, SimTime arrival, WallTime wall) {
    if (newest_.answered && newest_.caller == caller && newest_.what == what) note_turnaround(what, wall - newest_.left);
    newest_ = {.caller = caller, .what = what, .arrival = arrival, .left = {}, .answered = false};
}

void LeadEstimator::left(SimTime arrival, WallTime wall) {
    if (newest_.arrival != arrival) return; // other requests came since: it is not known which answer made the next request come
    newest_.left = wall;
    newest_.answered = true;
}

WallClock::duration LeadEstimator::step_lead(LeadClass of) const { return lead(of) + WallClock::duration{step_.load(std::memory_order_relaxed)}; }

void LeadEstimator::step_took(WallClock::duration took) {
    const auto known = step_.load(std::memory_order_relaxed);
    const auto now = std::min<WallClock::duration>(took, longest_step).count();
    step_.store(std::max(now, known - known / 16), std::memory_order_relaxed);
}

void LeadEstimator::note_turnaround(LeadClass what, WallClock::duration took) {
    Turnarounds& known = turnarounds_[index_of(what)];
    known.last[known.seen++ % window] = took;
    if (known.seen >= enough && known.seen % samples_between_looks == 0)
        leads_[index_of(what)].store(estimate(what).count(), std::memory_order_relaxed);
}

WallClock::duration LeadEstimator::estimate(LeadClass what) const {
    const Turnarounds& known = turnarounds_[index_of(what)];
    auto sorted = known.last;
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(known.seen, window));
    const auto end = sorted.begin() + count;
    const auto middle = sorted.begin() + count / 2;
    std::nth_element(sorted.begin(), middle, end);
    const auto usual = *middle;
    const auto shortest = *std::min_element(sorted.begin(), end);
    const auto turnaround = std::min<WallClock::duration>(usual, shortest + tolerance) - shortest_thought;
    return std::clamp<WallClock::duration>(turnaround, WallClock::duration{0}, at_most(what));
}

} // namespace flashlab
