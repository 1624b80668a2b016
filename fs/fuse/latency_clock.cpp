#include "fs/fuse/latency_clock.h"

#include <algorithm>
#include <cmath>

#include "base/contract.h"

namespace flashlab {

LatencyClock::LatencyClock(SimTime start, LatencyMode mode, WallTime wall) : base_{start}, wall_{wall}, mode_{mode} {
    ensure(mode.off || mode.rate > 0.0, "LatencyClock: the rate is positive");
}

SimTime LatencyClock::at(WallTime wall) const {
    const auto elapsed = std::chrono::duration_cast<Duration>(std::max(wall - wall_, WallClock::duration{0}));
    if (rate() == 1.0) return base_ + elapsed; // exact, whatever the uptime
    return base_ + Duration{std::llround(static_cast<double>(elapsed.count()) * rate())};
}

WallTime LatencyClock::wall_of(SimTime time) const {
    const Duration ahead = time - base_;
    if (rate() == 1.0) return wall_ + std::chrono::duration_cast<WallClock::duration>(ahead);
    const auto wait = Duration{std::llround(static_cast<double>(ahead.count()) / rate())};
    return wall_ + std::chrono::duration_cast<WallClock::duration>(wait);
}

SimTime LatencyClock::at_before(SimTime time, WallClock::duration lead) const {
    const auto ahead = std::chrono::duration_cast<Duration>(lead);
    return time - (rate() == 1.0 ? ahead : Duration{std::llround(static_cast<double>(ahead.count()) * rate())});
}

void LatencyClock::pass(SimTime completion, WallTime wall) {
    ensure(mode_.off, "LatencyClock::pass: only at latency off may the clock jump");
    if (completion <= at(wall)) return;
    base_ = completion;
    wall_ = wall;
}

void LatencyClock::set_mode(LatencyMode mode, WallTime wall) {
    ensure(mode.off || mode.rate > 0.0, "LatencyClock::set_mode: the rate is positive");
    base_ = at(wall);
    wall_ = std::max(wall, wall_);
    mode_ = mode;
}

} // namespace flashlab
