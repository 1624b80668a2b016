#include "tools/text/wrapped.h"

#include <algorithm>

namespace flashlab {
namespace {

constexpr std::size_t narrowest_text = 24;

/// Where the text of a line begins; npos: it is an example, or has no words to wrap.
std::size_t text_column(std::string_view line) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return first;
    const std::size_t gap = line.find("  ", first);
    const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    if (second != std::string_view::npos) return second;
    return first == 0 || first > 8 ? first : std::string_view::npos; // far to the right: the text below a long name
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
    const std::size_t column = text_column(line);
    if (line.size() <= columns || column == std::string_view::npos) return std::string{line};
    const std::size_t indent = column + narrowest_text <= columns ? column : 6;
    std::string out{line.substr(0, column)};
    std::size_t width = column;
    bool is_first = true;
    for (std::size_t at = column; at < line.size();) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        if (!is_first && width + 1 + (end - at) > columns) {
            out += "\n" + std::string(indent, ' ');
            width = indent;
        } else if (!is_first) {
            out += ' ';
            ++width;
        }
        out += line.substr(at, end - at);
        width += end - at;
        is_first = false;
        at = line.find_first_not_of(' ', end);
        if (at == std::string_view::npos) break;
    }
    return out;
}

} // namespace

std::string wrapped_help(std::string_view text, std::size_t columns) {
    if (columns == 0) return std::string{text};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += wrapped_line(text.substr(at, end - at), columns);
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

} // namespace flashlab
