/// Spans of time as people write them: 30d, 12h, 90m, 2y.
///
/// Idea       A whole number and a unit.
/// Invariant  None: anything else, a span of no length, or one beyond 100 years.
/// Cost       None.
#pragma once

#include <optional>
#include <string_view>

#include "base/sim_time.h"

namespace flashlab {

[[nodiscard]] std::optional<Duration> parse_span_of_time(std::string_view text);

} // namespace flashlab
