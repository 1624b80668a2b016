/// The words for how much is logged, as --log, ctl and the schema use them.
///
/// Cost       A few comparisons.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/events.h"

namespace flashlab {

inline constexpr std::array<std::string_view, 4> event_level_names{"none", "summary", "requests", "all"};

/// none, summary, requests, all.
[[nodiscard]] std::optional<EventLevel> parse_event_level(const std::string& text);
[[nodiscard]] std::string_view name_of(EventLevel level);

} // namespace flashlab
