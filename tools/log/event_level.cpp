#include "tools/log/event_level.h"

#include <algorithm>
#include <utility>

namespace flashlab {

std::optional<EventLevel> parse_event_level(const std::string& text) {
    const auto at = std::ranges::find(event_level_names, text);
    return at == event_level_names.end() ? std::nullopt : std::optional{static_cast<EventLevel>(at - event_level_names.begin())};
}

std::string_view name_of(EventLevel level) { return event_level_names.at(std::to_underlying(level)); }

} // namespace flashlab
