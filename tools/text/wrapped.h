/// Help on a terminal: long lines go on below their own text.
///
/// Idea       A line "  --option TEXT      what it does" has a column of text. What is too wide for the terminal goes on in the next line at that
///            column, or at the beginning of the line's text if the terminal is narrow. A line of one column that is indented is an example, and
///            stays as it is.
/// Invariant  No word is lost or parted; lines that fit are not changed.
/// Cost       A pass over the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab {

/// `columns` of 0: nothing is wrapped.
[[nodiscard]] std::string wrapped_help(std::string_view text, std::size_t columns);

} // namespace flashlab
