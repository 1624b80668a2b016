/// The end of what a program printed, or its beginning and end, for a message.
///
/// Idea       A program may print gigabytes, in one line. Only the two ends of the file are read.
/// Invariant  At most so many lines, and some two kilobytes; where something was left out before them, it is said.
/// Cost       One read of a few kilobytes.
#pragma once

#include <string>

namespace flashlab {

/// Without the last line feed. Empty: the file is empty, or not there.
[[nodiscard]] std::string last_lines(const std::string& file, int lines);
/// So many lines of each end: the first error is often at the beginning. A line "..." stands for what is left out between them.
[[nodiscard]] std::string first_and_last_lines(const std::string& file, int lines);

} // namespace flashlab
