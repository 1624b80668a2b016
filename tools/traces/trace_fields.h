/// Numbers and fields of a trace line, without allocation and without floating point.
///
/// Idea       A decimal fraction times a power of ten is an integer. So times stay exact to the nanosecond, whatever their unit.
/// Invariant  A field is read as a whole: "12x" is no number, and neither is anything beyond 64 bits.
/// Cost       One pass over the text.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace flashlab {

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

[[nodiscard]] inline std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base = 10) {
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// text * scale, rounded down. `scale` is a power of ten. "5e-05" is accepted, because some tools print numbers that way.
[[nodiscard]] std::optional<std::uint64_t> parse_scaled(std::string_view text, std::uint64_t scale, char decimal = '.');

/// Splits a line at one character, or at runs of blanks. Returns the number of fields, or 0 if there are more than `fields.size()`.
[[nodiscard]] std::size_t split_fields(std::string_view line, char separator, std::span<std::string_view> fields);

inline constexpr char blanks = ' '; ///< as separator: runs of blanks and tabs, leading ones ignored
inline constexpr std::size_t max_fields = 64;
using Fields = std::array<std::string_view, max_fields>;

} // namespace flashlab
