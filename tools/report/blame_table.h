/// What the slowest requests of a run waited for, asked once: the rows of v_blame_part as a temporary table `blamed`.
///
/// Idea       The view takes seconds on a long log, and several questions stand on it. SQLite counts its steps while it works. As they grow with the
///            operations of the log, they tell how far it is.
/// Invariant  The log is not written.
/// Cost       As tools/log/event_log_views.cpp says: some microseconds an operation.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "tools/report/log_rows_reader.h"

namespace flashlab {

/// Is told now and then how many operations have been looked at, of how many.
using BlameProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

[[nodiscard]] std::expected<void, std::string> make_blame_table(LogRowsReader& log, std::int64_t run, const BlameProgress& progress = {});

} // namespace flashlab
