#include "tools/text/sizes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace flashlab {
namespace {

constexpr std::array<std::string_view, 5> binary_units{"B", "KiB", "MiB", "GiB", "TiB"};

/// 0: not a unit.
std::uint64_t unit_bytes(std::string_view unit) {
    std::string lower{unit};
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lower.empty() || lower == "b") return 1;
    const std::size_t power = std::string_view{"kmgt"}.find(lower[0]) + 1;
    if (power == std::string_view::npos + 1) return 0;
    const std::string_view rest = std::string_view{lower}.substr(1);
    if (!rest.empty() && rest != "b" && rest != "ib") return 0;
    std::uint64_t bytes = 1;
    for (std::size_t i = 0; i < power; ++i) bytes *= rest == "b" ? 1000 : 1024;
    return bytes;
}

} // namespace

std::expected<std::uint64_t, std::string> parse_size(std::string_view text) {
    const auto fail = [&](std::string_view why) {
        return std::unexpected(
            fmt::format("'{}' is not a size: {}; write a whole number with K, M, G, T (KiB ... powers of 1024, KB ... of 1000)", text, why));
    };
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) return fail("too large");
    if (error != std::errc{}) return fail("it begins with no digit");
    std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    const std::uint64_t factor = unit_bytes(unit);
    if (factor == 0) return fail(fmt::format("'{}' is no unit", unit));
    if (number > std::numeric_limits<std::uint64_t>::max() / factor) return fail("too large");
    return number * factor;
}

std::expected<std::uint64_t, std::string> parse_seconds(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 6> units{{{"", 1e9}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    const auto* const known = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
    const double ns = known == units.end() ? 0 : std::round(number * known->second);
    if (error == std::errc{} && ns >= 1 && ns <= 1e18) return static_cast<std::uint64_t>(ns);
    return std::unexpected(fmt::format("'{}' is not a time: write seconds above 0 (10, 0.5), or a number with us, ms, s, m or h", text));
}

std::string format_size(std::uint64_t bytes) {
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < binary_units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", bytes, binary_units[unit]);
}

std::string human_size(std::uint64_t bytes) {
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < binary_units.size()) {
        value /= 1024;
        ++unit;
    }
    if (unit == 0) return fmt::format("{} B", bytes);
    return value < 999.5 ? fmt::format("{:.3g} {}", value, binary_units[unit]) : fmt::format("{:.0f} {}", value, binary_units[unit]);
}

std::string human_micros(double us) {
    return us >= 1e6 ? fmt::format("{:.1f} s", us / 1e6) : us >= 1e4 ? fmt::format("{:.1f} ms", us / 1e3) : fmt::format("{:.0f} us", us);
}

} // namespace flashlab
