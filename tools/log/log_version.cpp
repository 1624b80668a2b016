#include "tools/log/log_version.h"

#include <fmt/format.h>

#include "tools/log/event_log_schema.h"

namespace flashlab {

/// A log has none; so what has one is another program's, or the results of a sweep.
bool is_sweep_database(SqliteConnection& db) { return db.number("PRAGMA application_id").value_or(0) != 0; }

std::string why_no_event_log(SqliteConnection& db) {
    const auto version = db.number("PRAGMA user_version");
    if (!version) return fmt::format("no event log, or a damaged one ({}): restore it from a copy, or record it again", version.error());
    if (*version <= 0) return "not an event log of flashlab";
    if (is_sweep_database(db)) return "not an event log: if it holds results of a sweep, flashlab query and export --csv read it";
    if (*version > event_log_version())
        return fmt::format("the event log is of version {}, this flashlab knows {}: use a newer flashlab", *version, event_log_version());
    return db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'host_request'").value_or(0) == 0 ? "not an event log of flashlab" : "";
}

} // namespace flashlab
