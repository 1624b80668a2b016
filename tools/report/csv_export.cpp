#include "tools/report/csv_export.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace flashlab {
namespace {

void add_cell(std::string& line, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        line += text;
        return;
    }
    line += '"';
    for (const char c : text) line += c == '"' ? std::string{"\"\""} : std::string{c};
    line += '"';
}

std::string cell_of(const LogRow& row, int column) {
    const Json cell = row.cell(column);
    return cell.is_null() ? "" : cell.is_number() ? cell.dump() : cell.text();
}

} // namespace

std::expected<std::uint64_t, std::string> write_csv(const std::string& log_path, const std::string& name, const TextTaker& to,
                                                    const ReadProgress& progress) {
    auto log = LogRowsReader::open(log_path);
    if (!log) return std::unexpected(log.error());
    const bool is_name = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos && !name.empty();
    if (!is_name ||
        log->number(
               fmt::format("SELECT (SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = '{0}') + (SELECT count(*) FROM "
                           "temp.sqlite_schema WHERE name = '{0}')",
                           is_name ? name : ""))
                .value_or(0) == 0)
        return std::unexpected(fmt::format("{}: the log has no table or view of that name; flashlab query --schema and --views list them", name));
    const auto statement = log->db().prepare("SELECT * FROM " + name);
    if (!statement) return std::unexpected(statement.error());
    const int columns = sqlite3_column_count(statement->get());
    std::string line;
    for (int c = 0; c < columns; ++c) {
        if (c != 0) line += ',';
        add_cell(line, sqlite3_column_name(statement->get(), c));
    }
    line += "\r\n";
    std::uint64_t rows = 0;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(statement->get())) == SQLITE_ROW) {
        for (int c = 0; c < columns; ++c) {
            if (c != 0) line += ',';
            add_cell(line, cell_of(LogRow{statement->get()}, c));
        }
        line += "\r\n";
        ++rows;
        if (progress && rows % 65536 == 0) progress(rows);
        if (line.size() < 65536) continue;
        if (auto done = to(line); !done) return std::unexpected(done.error());
        line.clear();
    }
    if (result != SQLITE_DONE) return std::unexpected(log->db().error());
    if (auto done = to(line); !done) return std::unexpected(done.error());
    return rows;
}

} // namespace flashlab
