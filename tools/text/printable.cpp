#include "tools/text/printable.h"

#include <algorithm>
#include <utility>

namespace flashlab {

std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, '?');
    // C1, U+0080 to U+009F: terminals obey them, too.
    for (std::size_t at = text.find('\xc2'); at != std::string::npos; at = text.find('\xc2', at + 1))
        if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80 && static_cast<unsigned char>(text[at + 1]) < 0xa0)
            text.replace(at, 2, "?");
    return text;
}

std::string printable_line(std::string text) {
    text = printable(std::move(text));
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t'; }, '?');
    return text;
}

} // namespace flashlab
