/// A resource that serves one operation at a time, as a calendar of reservations.
///
/// Idea       An operation takes the earliest gap that fits; a late arrival may use an earlier gap.
/// Invariant  Reservations never overlap; touching ones are merged.
/// Cost       O(1) amortised: reservations before settle()'s time are dropped, gaps shorter than the shortest phase are forgotten.
/// Power cut  A calendar is the simulator's, not the device's: nothing of it survives.
#pragma once

#include <vector>

#include "base/sim_time.h"

namespace flashlab {

struct Slot {
    SimTime start;
    SimTime end;
};

class Calendar {
public:
    /// `shortest`: gaps below it are useless to every caller and are merged away.
    explicit Calendar(Duration shortest = Duration{1});
    /// Earliest start >= from at which `length` fits; reserves nothing.
    [[nodiscard]] SimTime earliest(SimTime from, Duration length) const;
    /// Earliest gap, taken.
    Slot reserve(SimTime from, Duration length);
    /// Takes exactly [start, start + length); ContractViolation when it is not free.
    void take(SimTime start, Duration length);
    [[nodiscard]] SimTime free_at() const; ///< end of the last reservation, sim_start when none
    [[nodiscard]] Duration busy() const;   ///< total reserved, ever
    void settle(SimTime now);

private:
    std::vector<Slot> slots_; ///< sorted, disjoint; slots_[head_..] are live
    std::size_t head_ = 0;
    Duration shortest_;
    Duration busy_{0};
    SimTime last_end_ = sim_start;
};

} // namespace flashlab
