/// What is said when a command fails in a way that nobody foresaw.
///
/// Idea       One place turns what was thrown into a sentence with a remedy.
/// Invariant  A message names no place in our sources, and calls nothing a defect of ours that the host refused (memory, disk) or that damage to images explains.
/// Cost       None that counts.
/// Power cut  None.
#pragma once

#include <exception>
#include <string>

namespace flashlab {

/// Out of memory, refused by the host, or a promise of ours that did not hold.
[[nodiscard]] std::string failure_text(const std::exception& error);

} // namespace flashlab
