/// Sizes and times as people write them: 4k, 512M, 4GiB, 10GB; 10, 0.5, 20ms.
///
/// Idea       K, M, G, T and KiB, MiB ... are powers of 1024. KB, MB ... are powers of 1000. Case does not matter. Fractions are refused.
/// Invariant  parse_size(format_size(n)) == n.
/// Cost       Negligible.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace flashlab {

/// The error says what is wrong with the text and what is accepted.
[[nodiscard]] std::expected<std::uint64_t, std::string> parse_size(std::string_view text);
/// Nanoseconds of a time in seconds, or with its unit: us, ms, s, m, h. The same errors.
[[nodiscard]] std::expected<std::uint64_t, std::string> parse_seconds(std::string_view text);
/// The exact size, in the largest binary unit that divides it: "4 GiB", "4000 B".
[[nodiscard]] std::string format_size(std::uint64_t bytes);
/// The size rounded to three digits, for people: "3.72 GiB".
[[nodiscard]] std::string human_size(std::uint64_t bytes);
/// "897 us", "18.6 ms", "1.4 s".
[[nodiscard]] std::string human_micros(double us);

} // namespace flashlab
