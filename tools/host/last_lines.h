/// The end of what a program printed, for a message.
///
/// Idea       A program may print gigabytes, in one line. Only the end of the file is read.
/// Invariant  At most so many lines, and some two kilobytes; where something was left out before them, it is said.
/// Cost       One read of a few kilobytes.
#pragma once

#include <string>

namespace flashlab {

/// Without the last line feed. Empty: the file is empty, or not there.
[[nodiscard]] std::string last_lines(const std::string& file, int lines);

} // namespace flashlab
