#include "tools/report/log_rows_reader.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/host/interruption.h"
#include "tools/log/event_log_views.h"
#include "tools/log/log_version.h"

namespace flashlab {

namespace {

constexpr std::uint64_t steps_between_looks = 100'000; ///< a few milliseconds

} // namespace

std::int64_t LogRow::number(int column) const { return sqlite3_column_int64(row_, column); }
double LogRow::real(int column) const { return sqlite3_column_double(row_, column); }
bool LogRow::is_null(int column) const { return sqlite3_column_type(row_, column) == SQLITE_NULL; }

std::string LogRow::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row_, column));
    return text == nullptr ? std::string{} : std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(row_, column))};
}

Json LogRow::cell(int column) const {
    switch (sqlite3_column_type(row_, column)) {
    case SQLITE_INTEGER:
        return Json{number(column)};
    case SQLITE_FLOAT:
        return Json{real(column)};
    case SQLITE_NULL:
        return Json{};
    default:
        return Json{text(column)};
    }
}

std::expected<LogRowsReader, std::string> LogRowsReader::open(const std::string& path) {
    auto db = SqliteConnection::open(path, SqliteAccess::read_only);
    if (!db) return std::unexpected(db.error());
    if (const std::string why = is_sweep_database(*db) ? std::string{} : why_no_event_log(*db); !why.empty())
        return std::unexpected(fmt::format("{}: {}", path, why));
    const auto version = db->number("PRAGMA user_version").value_or(0);
    if (auto made = db->execute("PRAGMA cache_size=-65536;" + event_log_temporary_views(version)); !made)
        return std::unexpected(fmt::format("{}: {}", path, made.error()));
    return LogRowsReader{std::move(*db)};
}

/// A signal ends a query, however long it is: the caller then leaves nothing behind.
LogRowsReader::LogRowsReader(SqliteConnection db) : db_{std::move(db)} {
    sqlite3_progress_handler(db_.get(), static_cast<int>(steps_between_looks), &LogRowsReader::step_made, steps_.get());
}

void LogRowsReader::tell_steps(std::function<void(std::uint64_t)> tell) { *steps_ = {.made = 0, .tell = std::move(tell)}; }

int LogRowsReader::step_made(void* steps) {
    auto& own = *static_cast<Steps*>(steps);
    own.made += steps_between_looks;
    if (own.tell) own.tell(own.made);
    return Interruption::came() ? 1 : 0;
}

bool LogRowsReader::has_table(std::string_view name) {
    return number(fmt::format("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '{}'", name)).value_or(0) != 0;
}

std::expected<void, std::string> LogRowsReader::read(std::string_view sql, const std::function<void(const LogRow&)>& each,
                                                     const ReadProgress& progress) {
    const auto statement = db_.prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    std::uint64_t rows = 0;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(statement->get())) == SQLITE_ROW) {
        each(LogRow{statement->get()});
        if (progress && ++rows % 65536 == 0) progress(rows);
    }
    if (result != SQLITE_DONE) return std::unexpected(db_.error());
    return {};
}

std::expected<Json, std::string> LogRowsReader::table(std::string_view sql, std::size_t most) {
    const auto statement = db_.prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    Json columns{Json::Array{}}, rows{Json::Array{}};
    const int wide = sqlite3_column_count(statement->get());
    for (int c = 0; c < wide; ++c) columns.push(sqlite3_column_name(statement->get(), c));
    int result = SQLITE_ROW;
    while (rows.items().size() < most && (result = sqlite3_step(statement->get())) == SQLITE_ROW) {
        Json row{Json::Array{}};
        for (int c = 0; c < wide; ++c) row.push(LogRow{statement->get()}.cell(c));
        rows.push(std::move(row));
    }
    if (result != SQLITE_DONE && result != SQLITE_ROW) return std::unexpected(db_.error());
    return Json::object({{"columns", std::move(columns)}, {"rows", std::move(rows)}});
}

std::optional<std::int64_t> LogRowsReader::number(std::string_view sql) {
    const auto found = db_.number(sql);
    return found ? std::optional{*found} : std::nullopt;
}

} // namespace flashlab
