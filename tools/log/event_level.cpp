#include "tools/log/event_level.h"

#include <algorithm>
#include <array>
#include <utility>

namespace flashlab {
namespace {

constexpr std::array<std::string_view, 4> names{"none", "summary", "requests", "all"};

} // namespace

std::optional<EventLevel> parse_event_level(const std::string& text) {
    const auto at = std::ranges::find(names, text);
    return at == names.end() ? std::nullopt : std::optional{static_cast<EventLevel>(at - names.begin())};
}

std::string_view name_of(EventLevel level) { return names.at(std::to_underlying(level)); }

} // namespace flashlab
