/// What a mount did between two looks at its counters: the rates that `flashlab top` shows.
///
/// Idea       Two answers to `stats` are subtracted. Requests and bytes are per second of the wall clock, as their user sees them; the channels are
///            busy in simulated time. Latencies are those since the mount.
/// Invariant  Counters never fall within a mount, so no rate is negative.
/// Cost       Negligible.
#pragma once

#include "tools/text/json.h"

namespace flashlab {

/// `seconds`: of the wall clock between the two.
[[nodiscard]] Json mount_sample(const Json& before, const Json& now, double seconds);

} // namespace flashlab
