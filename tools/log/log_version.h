/// Is this database an event log that this version knows?
///
/// Idea       Every reader asks before its first statement. The tables of a newer version may mean something else under names that are known.
/// Invariant  Logs of earlier versions are read. Results of a sweep, which are a database of ours as well, are told apart by their application_id.
/// Cost       Three small statements.
#pragma once

#include <string>

#include "tools/log/sqlite.h"

namespace flashlab {

/// Why it is none, with what to do; empty: it is one.
[[nodiscard]] std::string why_no_event_log(SqliteConnection& db);
[[nodiscard]] bool is_sweep_database(SqliteConnection& db);

} // namespace flashlab
