/// The words for how much is logged, as --log and ctl take them.
///
/// Cost       A few compares.
#pragma once

#include <optional>
#include <string>

#include "base/events.h"

namespace flashlab {

/// none, summary, requests, all.
[[nodiscard]] std::optional<EventLevel> parse_event_level(const std::string& text);

} // namespace flashlab
