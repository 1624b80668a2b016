#include "tools/text/printable.h"

#include <algorithm>

namespace flashlab {

std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, '?');
    return text;
}

} // namespace flashlab
