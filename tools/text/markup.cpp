#include "tools/text/markup.h"

#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace flashlab {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

/// Bytes of the character that `text` begins with; 0: it is none of UTF-8, or one that XML has no way to write.
std::size_t character_at(std::string_view text) {
    const auto character = utf8_character(text);
    if (!character) return 0;
    const std::uint32_t code = character->code;
    const bool is_control = code < 0x20 && code != '\n' && code != '\t' && code != '\r';
    return is_control || (code & 0xffff) >= 0xfffe ? 0 : character->bytes;
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
