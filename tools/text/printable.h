/// Text of others on a terminal: names of files, and what programs print.
///
/// Idea       A file name may hold the bytes that clear a screen or change a title. Where such text is shown to people they become '?'.
/// Invariant  The result has no control character but newline and tab, of C1 none. Other bytes of UTF-8 stay. What programs read (JSON, CSV) is not
///            passed here.
/// Cost       A pass over the text.
#pragma once

#include <string>

namespace flashlab {

[[nodiscard]] std::string printable(std::string text);
/// A cell of a table, or a line: newline and tab are '?', too.
[[nodiscard]] std::string printable_line(std::string text);

} // namespace flashlab
