/// Runs the user's check once, in a directory, with a limit of time.
///
/// Idea       A process a state (tools/explore/check_process.h): nothing of one state can reach the next.
/// Invariant  When the answer is there, nothing of the check runs any more.
/// Cost       Starting the program. One that stays is asked in tools/explore/served_check.h.
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

/// unclear: a check that stays said more than one line of a state, so that nobody knows what it said of which.
enum class CheckEnd { passed, failed, timed_out, interrupted, not_started, unclear };

struct CheckVerdict {
    CheckEnd end = CheckEnd::passed;
    int code = 0;
};

[[nodiscard]] CheckVerdict run_check(const CheckCall& call);

} // namespace flashlab
