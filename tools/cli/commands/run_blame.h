/// What the slowest requests of a program's run waited for, and whose they were: the part of `flashlab run` that asks the event log.
///
/// Idea       The log knows what a request waited for, the ledger of the mount whose it was (tools/drive/slow_requests.h). They meet by the id.
/// Invariant  The waits of all of them together are those of v_blame: to the nanosecond the sum of their latencies.
/// Cost       As tools/report/blame_table.h.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "tools/cli/progress.h"
#include "tools/text/json.h"

namespace flashlab {

/// Makes the line of progress at the first call. The line before it is done then.
void blame_at(std::optional<Progress>& line, std::uint64_t done, std::uint64_t total);

/// Of the last run in the log. `slow_requests`: the ledger's list. Null: the log holds no request.
/// `{requests, slowest, least_us, level, waits: [{what, share, ns, meaning}], by_user: [{process, path, op, requests, mean_us, max_us, mostly,
/// mostly_share}]}`.
[[nodiscard]] std::expected<Json, std::string> blame_of_run(const std::string& log_path, const Json& slow_requests);

} // namespace flashlab
