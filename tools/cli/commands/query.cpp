/// flashlab query: SQL on an event log.
#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/log_target.h"
#include "tools/host/complaint.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/event_log_views.h"
#include "tools/log/log_version.h"
#include "tools/log/sqlite.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct QueryOptions {
    std::string target, sql;
    OutputFormat format = OutputFormat::table;
    bool schema = false, views = false;
    bool table = false; ///< the default, said aloud
};

/// As SQL writes it: bytes need be no text.
std::string blob_of(sqlite3_stmt* row, int column) {
    const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(row, column));
    return fmt::format("x'{:02x}'", fmt::join(bytes, bytes + sqlite3_column_bytes(row, column), ""));
}

Json cell_of(sqlite3_stmt* row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        return Json{std::int64_t{sqlite3_column_int64(row, column)}};
    case SQLITE_FLOAT:
        return Json{sqlite3_column_double(row, column)};
    case SQLITE_NULL:
        return Json{};
    case SQLITE_BLOB:
        return Json{blob_of(row, column)};
    default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
        return Json{std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(row, column))}};
    }
    }
}

std::string shown(const Json& cell) {
    if (cell.is_null()) return "";
    return cell.is_number() ? cell.dump() : cell.text();
}

/// Of columns with one name, as a join has them, a reader of JSON would see the last one alone.
std::vector<std::string> told_apart(std::vector<std::string> names) {
    for (auto name = names.begin(); name != names.end(); ++name) {
        const std::string own = *name;
        for (int n = 2; std::find(names.begin(), name, *name) != name; ++n) *name = fmt::format("{}_{}", own, n);
    }
    return names;
}

int print_rows(SqliteConnection& db, sqlite3_stmt* statement, OutputFormat format) {
    std::vector<std::string> names;
    for (int c = 0; c < sqlite3_column_count(statement); ++c) names.emplace_back(sqlite3_column_name(statement, c));
    if (format == OutputFormat::json) names = told_apart(std::move(names));
    Table table{names};
    Json all{Json::Array{}};
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        std::vector<std::string> row;
        Json object{Json::Object{}};
        for (std::size_t c = 0; c < names.size(); ++c) {
            const Json cell = cell_of(statement, static_cast<int>(c));
            if (format == OutputFormat::json)
                object.add(names[c], cell);
            else
                row.push_back(shown(cell));
        }
        if (format == OutputFormat::json)
            all.push(std::move(object));
        else
            table.add(std::move(row));
    }
    if (result != SQLITE_DONE) return complain(fmt::format("query: {}", db.error()));
    fmt::print("{}", shown(format, all, table));
    return exit_done;
}

std::string views_in_words(OutputFormat format) {
    Table table{{"view", "what it tells"}};
    Json all{Json::Array{}};
    for (const LogView& view : event_log_view_list()) {
        table.add({std::string{view.name}, std::string{view.about}});
        all.push(Json::object({{"view", std::string{view.name}}, {"about", std::string{view.about}}}));
    }
    return shown(format, all, table);
}

/// Whether a statement stands behind the first one, not counting blanks, comments and a last ';'. SQLite itself knows where a statement ends.
bool has_second_statement(const std::string& sql) {
    for (std::size_t at = sql.find(';'); at != std::string::npos; at = sql.find(';', at + 1)) {
        if (sqlite3_complete(sql.substr(0, at + 1).c_str()) == 0) // within a text or a comment
            continue;
        // Not a comment or blank: completed by a ';' it is a statement of its own.
        auto memory = SqliteConnection::open(":memory:", SqliteAccess::create);
        const std::string rest = sql.substr(at + 1);
        const auto parsed = memory ? memory->prepare(rest) : std::unexpected(std::string{});
        if (!parsed || parsed->get() != nullptr) return true;
    }
    return false;
}

/// What `flashlab blocktrace` left beside the log, with views of its own.
std::expected<void, std::string> attach_block_trace(SqliteConnection& db, const std::string& log) {
    std::string path = (std::filesystem::path{log}.parent_path() / "block_trace.db").string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return {};
    for (std::size_t at = 0; (at = path.find('\'', at)) != std::string::npos; at += 2) path.insert(at, 1, '\'');
    if (auto attached = db.execute(fmt::format("ATTACH '{}' AS block_trace", path)); !attached) return attached;
    return db.execute(
        "CREATE TEMP VIEW v_block_write AS SELECT r.request, w.command AS writer, w.pid, w.flags, w.first_sector, w.sectors, s.call, "
        "s.command AS synced_by, s.path FROM block_trace.block_write w LEFT JOIN block_trace.block_request r ON r.write = w.n "
        "LEFT JOIN block_trace.sync_call s ON s.n = w.sync WHERE EXISTS (SELECT * FROM run, block_trace.traced t WHERE "
        "run.start_ns = t.start_ns AND run.config_hash = t.config_hash);"
        "CREATE TEMP VIEW v_erase_by_sync AS WITH began AS (SELECT g.id AS job, g.valid_pages AS copies, (SELECT max(request) FROM "
        "block_trace.block_request WHERE request < g.id) AS request FROM gc_job g, block_trace.traced t JOIN run ON run.start_ns = t.start_ns AND "
        "run.config_hash = t.config_hash "
        "WHERE g.id > t.before AND g.id <= t.last) "
        "SELECT e.ts_ns / 1e6 AS ms, e.block, b.copies, b.request, w.command AS writer, w.flags, s.call, s.command AS synced_by, s.pid, s.path "
        "FROM began b JOIN nand_op e ON e.parent = b.job AND e.op = (SELECT op FROM nand_op_name WHERE name = 'erase') "
        "JOIN block_trace.block_write w ON w.n = (SELECT min(write) FROM block_trace.block_request WHERE request = b.request) "
        "LEFT JOIN block_trace.sync_call s ON s.n = w.sync ORDER BY e.ts_ns");
}

int run_query(const QueryOptions& o) {
    if (o.schema || o.views) {
        fmt::print("{}", o.schema ? event_log_tables() + (o.views ? event_log_views() : "") : views_in_words(o.format));
        return exit_done;
    }
    const auto path = find_log("query", o.target);
    if (!path) return complain(path.error());
    auto db = SqliteConnection::open(*path, SqliteAccess::read_only);
    if (!db) return complain(fmt::format("query: {}", db.error()));
    const bool is_sweep = is_sweep_database(*db);
    if (const std::string why = is_sweep ? std::string{} : why_no_event_log(*db); !why.empty())
        return complain(fmt::format("query: {}: {}", *path, why));
    if (const auto version = db->number("PRAGMA user_version").value_or(0); !is_sweep && version != event_log_version())
        if (auto made = db->execute(event_log_temporary_views(version)); !made) // the ready views of today, for this connection alone
            return complain(fmt::format("query: {}: {}", *path, made.error()));
    if (const auto attached = is_sweep ? std::expected<void, std::string>{} : attach_block_trace(*db, *path); !attached)
        return complain(fmt::format("query: block_trace.db beside {}: {}; made by blocktrace, it may be removed", *path, attached.error()));
    if (has_second_statement(o.sql)) return complain("query: one statement at a time is run: leave out what follows the ';'", exit_usage);
    const auto statement = db->prepare(o.sql);
    if (!statement)
        return complain(fmt::format("query: {}; 'flashlab query --schema' and '--views' show what there is", statement.error()), exit_usage);
    if (statement->get() == nullptr || sqlite3_stmt_readonly(statement->get()) == 0)
        return complain("query: only statements that read are run", exit_usage);
    return print_rows(*db, statement->get(), o.format);
}

} // namespace

void add_query(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_query, "query",
                              "Ask the event log in SQL: write amplification, latencies, who waited for what. Works while mounted, too",
                              "flashlab query /tmp/disk \"SELECT * FROM v_waf_by_cause\"", [](const QueryOptions& given) {
                                  if (!given.schema && !given.views && (given.target.empty() || given.sql.empty()))
                                      throw CLI::RequiredError("DIR and SQL");
                              });
    c.add_option("DIR", o.target, "Device directory, mount point, or event log file");
    c.add_option("SQL", o.sql, "One SELECT; --views lists ready answers, such as \"SELECT * FROM v_waf\"");
    add_format(c, o.format, "An array of objects", "Comma-separated values");
    c.add_flag("--table", o.table, "Aligned columns (default)")->excludes(c.get_option("--csv"))->excludes(c.get_option("--json"));
    c.add_flag("--schema", o.schema, "The tables, as SQL; with --views the views, too");
    c.add_flag("--views", o.views, "The ready views: name, and what each tells");
}

} // namespace flashlab
