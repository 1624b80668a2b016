#include "tools/text/printable.h"

#include <algorithm>
#include <utility>

namespace flashlab {

std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, '?');
    return text;
}

std::string printable_line(std::string text) {
    text = printable(std::move(text));
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t'; }, '?');
    return text;
}

} // namespace flashlab
