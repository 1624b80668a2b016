/// What a program may write at most: the part of `flashlab run` that a CI holds a program to.
///
/// Idea       Limits on three figures of the report. What is beyond one is told with the files and callers that it came from.
/// Invariant  A run that kept within all of them ends as without them.
/// Cost       None.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/command_options.h"
#include "tools/text/json.h"

namespace flashlab {

/// Of run: the program ended with 0, and was beyond a limit.
inline constexpr int exit_over_budget = 3;

struct WriteBudget {
    std::optional<std::uint64_t> host_bytes, flash_bytes, syncs;
    std::string junit; ///< file; empty: none
    [[nodiscard]] bool has_limits() const { return host_bytes || flash_bytes || syncs; }
};

/// The three limits, and --junit where a command has no other way to write test cases.
void add_budget_options(CLI::App& c, WriteBudget& budget, bool has_junit = true);
/// Why the options make no sense, told before the first run; empty: they do.
[[nodiscard]] std::string why_no_budget(const WriteBudget& budget);
/// `[{limit, option, allowed, came_to, held}]`, of each limit that is set.
[[nodiscard]] Json judged(const WriteBudget& budget, const Json& report);
/// What this limit allows and what it came to, with who wrote it.
[[nodiscard]] std::string told_limit(const Json& limit, const Json& report, std::size_t rows);
/// What was beyond a limit, and who wrote it; empty: nothing was. `rows`: of files and callers.
[[nodiscard]] std::string over_budget(const Json& report, std::size_t rows);
/// A test case a limit and run; a program or a check that ended with another code than 0 is an error. The error says why the file is not there.
[[nodiscard]] std::expected<void, std::string> write_junit(const std::string& file, const Json& reports);

} // namespace flashlab
