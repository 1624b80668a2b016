/// Runs the user's check once, in a directory, with a limit of time.
///
/// Idea       posix_spawn, which copies no page tables, and a descriptor of the process to wait on: hundreds of checks a second.
/// Invariant  Nothing that the check started outlives it, unless it left its process group and forgot FLASHLAB_MOUNT, which is set to `directory`.
///            What it prints takes some megabytes at most, where the file system of `output` can give back the beginning of a file.
/// Cost       Starting the program, and a shell where the line needs one (tools/explore/plain_command.h).
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace flashlab {

/// Open in every check: what is written to it is nobody's promise.
inline constexpr int ignored_promises_fd = 9;

struct CheckCall {
    std::string command; ///< as sh -c takes it
    std::string directory, output;
    std::string errors{}; ///< for standard error; empty: it goes to `output`, too
    std::vector<std::pair<std::string, std::string>> environment;
    std::chrono::milliseconds limit{0};
};

enum class CheckEnd { passed, failed, timed_out, interrupted, not_started };

struct CheckVerdict {
    CheckEnd end = CheckEnd::passed;
    int code = 0;
};

[[nodiscard]] CheckVerdict run_check(const CheckCall& call);

} // namespace flashlab
