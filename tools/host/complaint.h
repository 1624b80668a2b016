/// What a command says when it does not do what it was asked for, and the exit codes.
///
/// Idea       0 done, 1 failed or a check found something, 2 wrong usage or configuration; fsck has those of fsck(8).
/// Invariant  Results go to standard output, everything else to standard error.
/// Cost       A write.
#pragma once

#include <string>

namespace flashlab {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_held = 3; ///< of umount: somebody else has it mounted still

/// "flashlab: WHAT: WHY" on standard error; returns `code`.
int complain(const std::string& text, int code = exit_failed);

} // namespace flashlab
