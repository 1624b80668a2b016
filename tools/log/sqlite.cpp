#include "tools/log/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/host/regular_file.h"

namespace flashlab {

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
SqliteStatement::SqliteStatement(sqlite3_stmt* statement) : statement_{statement} {}

void SqliteStatement::bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_.get(), at, value); }

void SqliteStatement::bind(int at, double value) { sqlite3_bind_double(statement_.get(), at, value); }

void SqliteStatement::bind(int at, std::string_view value) {
    sqlite3_bind_text(statement_.get(), at, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

void SqliteStatement::bind_null(int at) { sqlite3_bind_null(statement_.get(), at); }

bool SqliteStatement::step() {
    const int result = sqlite3_step(statement_.get());
    return sqlite3_reset(statement_.get()) == SQLITE_OK && (result == SQLITE_DONE || result == SQLITE_ROW);
}

std::optional<std::int64_t> SqliteStatement::number() {
    const int result = sqlite3_step(statement_.get());
    const std::int64_t value = result == SQLITE_ROW ? sqlite3_column_int64(statement_.get(), 0) : 0;
    if (sqlite3_reset(statement_.get()) != SQLITE_OK || (result != SQLITE_ROW && result != SQLITE_DONE)) return std::nullopt;
    return value;
}

void SqliteConnection::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

std::expected<SqliteConnection, std::string> SqliteConnection::open(const std::string& path, SqliteAccess access) {
    if (const auto file = path == ":memory:" ? std::expected<void, std::string>{} : check_regular_or_missing(path);
        !file) // SQLite opens whatever there is, and waits for a FIFO
        return std::unexpected(file.error() + ", so no event log");
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_NOMUTEX | (access == SqliteAccess::create_no_link ? SQLITE_OPEN_NOFOLLOW : 0) |
                      (access == SqliteAccess::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const std::string plain = path.starts_with("file:") ? "./" + path : path; // Debian's SQLite takes such a name for a URI, with options for it
    const int result = sqlite3_open_v2(plain.c_str(), &raw, flags, nullptr);
    SqliteConnection connection{raw};
    if (result != SQLITE_OK) return std::unexpected(fmt::format("{}: {}", path, raw != nullptr ? sqlite3_errmsg(raw) : "out of memory"));
    sqlite3_busy_timeout(raw, 5000);
    return connection;
}

std::expected<void, std::string> SqliteConnection::execute(std::string_view sql) {
    if (sqlite3_exec(db_.get(), std::string{sql}.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return std::unexpected(error());
    return {};
}

std::expected<SqliteStatement, std::string> SqliteConnection::prepare(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK) return std::unexpected(error());
    return SqliteStatement{raw};
}

std::expected<std::int64_t, std::string> SqliteConnection::number(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    const auto value = statement->number();
    if (!value) return std::unexpected(error());
    return *value;
}

std::string SqliteConnection::error() const { return sqlite3_errmsg(db_.get()); }

} // namespace flashlab
