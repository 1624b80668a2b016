#include "tools/text/markup.h"

#include <cstddef>
#include <cstdint>

namespace flashlab {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

/// Bytes of the character that `text` begins with; 0: it is none of UTF-8, or one that XML has no way to write.
std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 || byte(0) == '\n' || byte(0) == '\t' || byte(0) == '\r' ? 1 : 0;
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
    std::uint32_t code = byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool is_none = (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff || (code & 0xffff) >= 0xfffe;
    return is_overlong || is_none ? 0 : length;
}

} // namespace

std::string markup_escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = character_at(text);
        const char c = length == 0 ? '\0' : text.front();
        const std::string_view character = length == 0 ? replacement : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += character;
        }
    }
    return out;
}

} // namespace flashlab
