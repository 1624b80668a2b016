/// The mark with which spreadsheets and PowerShell begin a text, and which says how its characters are written.
///
/// Idea       The mark of UTF-8 is passed over. A text in UTF-16 is refused with the remedy.
/// Cost       A look at three bytes, once a trace.
#pragma once

#include <string_view>

namespace flashlab {

[[nodiscard]] inline std::string_view without_mark(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

[[nodiscard]] inline bool is_utf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

inline constexpr std::string_view utf16_remedy = "this text is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8";

} // namespace flashlab
