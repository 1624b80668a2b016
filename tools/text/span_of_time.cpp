#include "tools/text/span_of_time.h"

#include <charconv>

namespace flashlab {

std::optional<Duration> parse_span_of_time(std::string_view text) {
    using std::chrono::hours;
    if (text.size() < 2) return std::nullopt;
    const std::string_view digits = text.substr(0, text.size() - 1);
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || end != digits.data() + digits.size() || count == 0) return std::nullopt;
    std::chrono::minutes unit{0};
    switch (text.back()) {
    case 'm':
        unit = std::chrono::minutes{1};
        break;
    case 'h':
        unit = hours{1};
        break;
    case 'd':
        unit = hours{24};
        break;
    case 'y':
        unit = hours{24 * 365};
        break;
    default:
        return std::nullopt;
    }
    constexpr hours longest{24 * 365 * 100};
    if (count > longest / unit) return std::nullopt;
    return unit * std::int64_t{count};
}

} // namespace flashlab
