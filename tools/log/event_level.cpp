#include "tools/log/event_level.h"

namespace flashlab {

std::optional<EventLevel> parse_event_level(const std::string& text) {
    if (text == "none")
        return EventLevel::none;
    if (text == "summary")
        return EventLevel::summary;
    if (text == "requests")
        return EventLevel::requests;
    if (text == "all")
        return EventLevel::all;
    return std::nullopt;
}

} // namespace flashlab
