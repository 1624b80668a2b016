#include "tools/traces/trace_fields.h"

namespace flashlab {

namespace {

std::optional<int> parse_exponent(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < -30 || value > 30) return std::nullopt;
    return value;
}

/// mantissa * 10^power
std::optional<std::uint64_t> times_ten_to(std::uint64_t mantissa, int power) {
    for (; power > 0; --power)
        if (__builtin_mul_overflow(mantissa, std::uint64_t{10}, &mantissa)) return std::nullopt;
    for (; power < 0; ++power) mantissa /= 10;
    return mantissa;
}

} // namespace

std::optional<std::uint64_t> parse_scaled(std::string_view text, std::uint64_t scale, char decimal) {
    int power = 0;
    for (std::uint64_t s = scale; s > 1; s /= 10) ++power;
    if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
        const auto exponent = parse_exponent(text.substr(e + 1));
        if (!exponent) return std::nullopt;
        power += *exponent;
        text = text.substr(0, e);
    }
    std::uint64_t mantissa = 0;
    bool after_point = false, any_digit = false;
    int dropped = 0;
    for (const char c : text) {
        if (c == decimal && decimal != '\0' && !after_point) {
            after_point = true;
            continue;
        }
        if (c < '0' || c > '9') return std::nullopt;
        any_digit = true;
        if (after_point && (power <= 0 || dropped > 0)) { // below what the result can hold
            ++dropped;
            continue;
        }
        if (__builtin_mul_overflow(mantissa, std::uint64_t{10}, &mantissa) ||
            __builtin_add_overflow(mantissa, static_cast<std::uint64_t>(c - '0'), &mantissa))
            return std::nullopt;
        power -= after_point ? 1 : 0;
    }
    return any_digit ? times_ten_to(mantissa, power) : std::nullopt;
}

std::size_t split_fields(std::string_view line, char separator, std::span<std::string_view> fields) {
    std::size_t count = 0;
    const auto add = [&](std::string_view field) {
        if (count == fields.size()) return false;
        fields[count++] = field;
        return true;
    };
    if (separator != blanks) {
        for (std::size_t at = 0;;) {
            const std::size_t next = line.find(separator, at);
            if (!add(trimmed(line.substr(at, next - at)))) return 0;
            if (next == std::string_view::npos) return count;
            at = next + 1;
        }
    }
    for (std::size_t at = 0;;) {
        at = line.find_first_not_of(" \t", at);
        if (at == std::string_view::npos) return count;
        const std::size_t next = line.find_first_of(" \t", at);
        if (!add(line.substr(at, next - at))) return 0;
        at = next;
        if (next == std::string_view::npos) return count;
    }
}

} // namespace flashlab
