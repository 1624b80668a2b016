/// What is said when a command fails in a way that nobody foresaw.
///
/// Idea       One place turns what was thrown into a sentence with a remedy.
/// Invariant  A message names no place in our sources. A failure is not called a defect of ours if the host refused something (memory, disk), or if
///            damage to the images explains it.
/// Cost       Negligible.
/// Power cut  None.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace flashlab {

/// The cause is one of three: memory ran out, the host refused something, or a contract of ours was broken.
[[nodiscard]] std::string failure_text(const std::exception& error);
/// What no cause explains: a defect of ours, or of a scheme that was loaded.
[[nodiscard]] std::string unexpected_failure(std::string_view what);

} // namespace flashlab
