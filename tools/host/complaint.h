/// What a command says when it does not do what it was asked for, and the exit codes.
///
/// Idea       The exit code is 0 for done, 1 for failed or for a check that found something, 2 for wrong usage or configuration. fsck has the codes
///            of fsck(8).
/// Invariant  Results go to standard output, everything else to standard error.
/// Cost       One write.
#pragma once

#include <string>

namespace flashlab {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_held = 3; ///< of umount: somebody else still has the device mounted

/// "flashlab: WHAT: WHY" on standard error; returns `code`.
int complain(const std::string& text, int code = exit_failed);

} // namespace flashlab
