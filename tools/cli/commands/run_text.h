/// The report of `flashlab run` as people read it: what was written where, by whom, and how long the drive lasts.
///
/// Idea       One run is told in full. Several are a table with a column each.
/// Invariant  JSON has everything that the text has, and more files.
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

/// The row of processes for what run itself did in the mount, to start the program there. People do not see it.
inline constexpr const char* start_of_program = "(start of the program)";

/// `rows`: of files and of callers, in the text.
[[nodiscard]] std::string shown_runs(OutputFormat format, const Json& reports, std::size_t rows);

/// What `ctl MNT use` says, for people.
[[nodiscard]] std::string shown_use(const Json& use);

} // namespace flashlab
