/// Simulated time: integer nanoseconds since the device was made.
///
/// Idea       A clock without now(): no code below fs/fuse can ask for the wall-clock time.
/// Invariant  point - point is a duration, point + point does not compile.
/// Cost       An int64; 292 years of range.
/// Power cut  Order on the media rests on sequences, never on times.
#pragma once

#include <chrono>
#include <cstdint>

namespace flashlab {

struct SimClock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<SimClock, duration>;
    static constexpr bool is_steady = true;
};
using SimTime = SimClock::time_point;
using Duration = SimClock::duration;

inline constexpr SimTime sim_start{Duration{0}};
inline constexpr SimTime sim_never = SimTime::max();

[[nodiscard]] constexpr std::int64_t ns_since_start(SimTime t) { return t.time_since_epoch().count(); }
[[nodiscard]] constexpr SimTime sim_time_from_ns(std::int64_t ns) { return SimTime{Duration{ns}}; }

} // namespace flashlab
