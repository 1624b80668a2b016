#include "nand/suspensions.h"

#include <algorithm>

namespace flashlab {

Suspensions::Suspensions(std::size_t lanes, const NandTiming& timing, const NandOptions& options, Duration shortest)
    : suspend_{timing.suspend}, resume_{timing.resume} {
    if (options.erase_suspends + options.program_suspends == 0) return;
    windows_.resize(lanes * windows_a_lane);
    next_window_.resize(2 * lanes);
    host_reads_.assign(lanes, Calendar{shortest});
}

void Suspensions::open(std::size_t lane, SimTime begin, SimTime end, std::uint32_t reads, bool is_read) {
    if (reads == 0) return;
    std::size_t& next = next_window_[2 * lane + (is_read ? 1 : 0)];
    windows_of(lane)[(is_read ? suspendable_a_lane : 0) + next] = {begin, end, begin, reads, is_read};
    next = (next + 1) % (is_read ? reads_a_lane : suspendable_a_lane);
}

SimTime Suspensions::plainly(std::size_t lane, const Calendar& cells, SimTime sense, Duration held) const {
    SimTime at = cells.earliest(sense, held);
    while (are_possible()) {
        const SimTime between = host_reads_[lane].earliest(at, held);
        if (between == at) break;
        at = cells.earliest(between, held);
    }
    return at;
}

Suspensions::Place Suspensions::place_of_read(std::size_t lane, const Calendar& cells, SimTime from, SimTime sense, Duration held) {
    const Place plain{plainly(lane, cells, sense, held)};
    if (plain.at == sense || !are_possible()) return plain;
    const Place in_window = first_window(lane, from, sense, held);
    return in_window.at < plain.at ? in_window : plain;
}

/// A read suspends no earlier than it was asked for, and not while another read has suspended the operation. One that comes while data enter the
/// register waits for the cells to begin, one that comes while nobody's read is under way for its end.
Suspensions::Place Suspensions::first_window(std::size_t lane, SimTime from, SimTime sense, Duration held) {
    Place first{sim_never};
    const SimTime under_way_until = end_of_what_has_begun(lane, from);
    for (Window& window : windows_of(lane)) {
        if (window.left == 0 || (window.is_read ? from : sense) >= window.end) continue;
        SimTime at = std::max(sense, window.is_read ? window.end : std::max(from, window.busy_until) + suspend_);
        if (at >= first.at) continue;
        at = host_reads_[lane].earliest(at, held);
        if (window.is_read ? at < under_way_until : at + held + resume_ > window.end) continue;
        if (at < first.at) first = {at, &window};
    }
    return first;
}

/// Of an erase or program.
SimTime Suspensions::end_of_what_has_begun(std::size_t lane, SimTime before) const {
    SimTime end = sim_start;
    for (const Window& window : windows_of(lane).first(suspendable_a_lane))
        if (window.begin < before) end = std::max(end, window.end);
    return end;
}

/// What the cells did not do meanwhile they do afterwards; until it is over it can be suspended again.
SimTime Suspensions::get_in(Window& window, std::size_t lane, Calendar& cells, SimTime sense, SimTime cells_free) {
    const Duration owed = cells_free - sense + (window.is_read ? Duration{0} : suspend_ + resume_);
    const SimTime ended = window.end, paid = cells.earliest(ended, owed);
    cells.take(paid, owed);
    for (Window& later : windows_of(lane)) {
        if (later.begin <= window.begin || later.begin >= paid) continue;
        later.begin += owed;
        later.end += owed;
        later.busy_until += owed;
    }
    window.end = window.is_read ? cells_free : ended + owed;
    window.busy_until = cells_free + resume_;
    --window.left;
    ++count_;
    return paid + owed;
}

} // namespace flashlab
