#include "base/utf8.h"

namespace flashlab {

std::optional<Utf8Character> utf8_character(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (byte(0) < 0x80) return Utf8Character{byte(0), 1};
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return std::nullopt;
    std::uint32_t code = byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool is_none = (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff;
    if (is_overlong || is_none) return std::nullopt;
    return Utf8Character{code, length};
}

} // namespace flashlab
