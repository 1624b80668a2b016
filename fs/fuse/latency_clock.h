/// Simulated time on a live mount: C0 + rate x (wall - W0).
///
/// Idea       One straight line from the last re-base (C0, W0). The wall time is passed in, so that a test needs no sleep.
/// Invariant  The clock never runs backwards, and a change of the rate never makes it jump. Only pass() at latency off moves it ahead of its line.
/// Cost       A subtraction and a multiplication.
/// Power cut  The time of the clock is stored at unmount and with the samples. Order on the media never depends on it.
/// Threading  None: guarded by the monitor, copied where a snapshot is needed.
#pragma once

#include <chrono>

#include "base/sim_time.h"
#include "fs/fuse/mount.h"

namespace flashlab {

using WallClock = std::chrono::steady_clock;
using WallTime = WallClock::time_point;

class LatencyClock {
public:
    LatencyClock(SimTime start, LatencyMode mode, WallTime wall);

    [[nodiscard]] SimTime at(WallTime wall) const;
    /// The wall time at which the clock reaches `time`; it lies in the past when the clock has passed `time`.
    [[nodiscard]] WallTime wall_of(SimTime time) const;
    /// The time that the clock shows when it still needs `lead`, in wall time, until it reaches `time`.
    [[nodiscard]] SimTime at_before(SimTime time, WallClock::duration lead) const;
    /// Latency off: an answer with this completion is given now, so the clock moves at least to this time.
    void pass(SimTime completion, WallTime wall);
    void set_mode(LatencyMode mode, WallTime wall);
    [[nodiscard]] bool off() const { return mode_.off; }
    [[nodiscard]] LatencyMode mode() const { return mode_; }

private:
    [[nodiscard]] double rate() const { return mode_.off ? 1.0 : mode_.rate; }
    SimTime base_;  ///< C0
    WallTime wall_; ///< W0
    LatencyMode mode_;
};

} // namespace flashlab
