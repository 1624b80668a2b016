/// A log in a file of its own, and a row for it, for the tests of the event log.
///
/// Idea       TemporaryFile asks the file for one number, so that a test reads as one line of SQL.
/// Invariant  A log that does not open, or SQL that fails, fails the test.
#pragma once

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tools/log/sqlite.h"
#include "tools/log/sqlite_event_log.h"

namespace flashlab::test {

class LogFile {
public:
    [[nodiscard]] std::string path() const { return directory_ / "events.db"; }
    [[nodiscard]] std::int64_t number(const std::string& sql) const {
        auto db = SqliteConnection::open(path(), SqliteAccess::read_only);
        REQUIRE(db.has_value());
        const auto value = db->number(sql);
        INFO(sql << ": " << (value ? "" : value.error()));
        REQUIRE(value.has_value());
        return *value;
    }

private:
    TemporaryDirectory directory_;
};

inline std::unique_ptr<SqliteEventLog> open_log(const LogFile& file, EventLevel level, std::uint64_t keep = std::uint64_t{1} << 30,
                                                bool yields = false) {
    auto log = SqliteEventLog::open(EventLogConfig{.path = file.path(), .level = level, .keep_bytes = keep, .yields = yields});
    INFO((log ? "" : log.error()));
    REQUIRE(log.has_value());
    return std::move(*log);
}

inline NandOpEvent program(std::int64_t at, Cause cause) {
    NandOpEvent e;
    e.start = sim_time_from_ns(at);
    e.end = sim_time_from_ns(at + 700);
    e.op = NandOp::program;
    e.origin.cause = cause;
    return e;
}

} // namespace flashlab::test
