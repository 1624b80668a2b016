#include "tools/sweep/sweep_database.h"

#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include "tools/host/aside_file.h"
#include "tools/host/regular_file.h"
#include "tools/log/sqlite.h"

namespace flashlab {
namespace {

constexpr std::int64_t application_id = 0x464c5357; // "FLSW"
constexpr std::int64_t format_version = 1;

/// Columns out of the report, by the path of its keys. All else is in `report`, for json_extract().
struct Metric {
    std::string_view column, group, key;
};
constexpr std::array<Metric, 29> metrics{{{"ftl", "", "ftl"},
                                          {"preset", "", "preset"},
                                          {"requests", "", "requests"},
                                          {"reads", "", "reads"},
                                          {"writes", "", "writes"},
                                          {"trims", "", "trims"},
                                          {"host_read_bytes", "", "host_read_bytes"},
                                          {"host_write_bytes", "", "host_write_bytes"},
                                          {"nand_read_pages", "", "nand_read_pages"},
                                          {"nand_program_pages", "", "nand_program_pages"},
                                          {"nand_erase_blocks", "", "nand_erase_blocks"},
                                          {"waf", "", "waf"},
                                          {"waf_user", "", "waf_user"},
                                          {"waf_gc", "", "waf_gc"},
                                          {"waf_merge", "", "waf_merge"},
                                          {"waf_map", "", "waf_map"},
                                          {"gc_page_copies", "", "gc_page_copies"},
                                          {"sim_seconds", "", "sim_seconds"},
                                          {"iops", "", "iops"},
                                          {"read_mb_s", "", "read_mb_s"},
                                          {"write_mb_s", "", "write_mb_s"},
                                          {"latency_us_mean", "latency_us", "mean"},
                                          {"latency_us_p50", "latency_us", "p50"},
                                          {"latency_us_p95", "latency_us", "p95"},
                                          {"latency_us_p99", "latency_us", "p99"},
                                          {"latency_us_p999", "latency_us", "p999"},
                                          {"latency_us_max", "latency_us", "max"},
                                          {"erase_count_mean", "erase_count", "mean"},
                                          {"erase_count_max", "erase_count", "max"}}};
constexpr std::array<std::string_view, 6> host_columns{"wall_seconds",     "wall_requests_per_second", "wall_states_per_second",
                                                       "wall_cpu_seconds", "wall_run_seconds",         "peak_rss_bytes"};

std::string sql_quoted(std::string_view name, char quote) {
    std::string text{quote};
    for (const char c : name) text += c == quote ? std::string(2, c) : std::string{c};
    return text + quote;
}

std::string table_sql() {
    std::string sql = "CREATE TABLE run(id TEXT PRIMARY KEY, status TEXT NOT NULL, error TEXT, load TEXT NOT NULL, trace TEXT, trace_hash TEXT,"
                      " seed INTEGER, config_hash TEXT, version TEXT NOT NULL, parameters TEXT NOT NULL, command TEXT NOT NULL, report TEXT";
    for (const Metric& metric : metrics) sql += fmt::format(", {}", metric.column);
    for (const std::string_view column : host_columns) sql += fmt::format(", {}", column);
    return sql + ") WITHOUT ROWID";
}

/// v_runs: the grid's keys as columns, then the load and what came of it.
std::string view_sql(const SweepRecords& records) {
    std::set<std::string> keys;
    for (const auto& [id, record] : records)
        for (const auto& [key, value] : record.run.parameters.members()) keys.insert(key);
    std::string sql = "CREATE VIEW v_runs AS SELECT load", order = "load";
    for (const std::string& key : keys) {
        const std::string path = sql_quoted("$." + sql_quoted(key, '"'), '\'');
        sql += fmt::format(", json_extract(parameters, {}) AS {}", path, sql_quoted(key == "preset" ? "grid_preset" : key, '"'));
        order += fmt::format(", json_extract(parameters, {})", path);
    }
    sql += ", seed, status, error";
    for (const Metric& metric : metrics) sql += fmt::format(", {}", metric.column);
    for (const std::string_view column : host_columns) sql += fmt::format(", {}", column);
    return sql + fmt::format(", id FROM run ORDER BY {}, seed, id", order);
}

int bind_json(SqliteStatement& statement, int bound, const Json& value) {
    if (value.is_null()) return statement.bind_after(bound, std::optional<double>{});
    if (!value.is_number()) return statement.bind_after(bound, value.text(value.dump()));
    const std::string text = value.dump();
    if (text.find_first_of(".eE") == std::string::npos) return statement.bind_after(bound, value.number());
    return statement.bind_after(bound, value.real());
}

std::expected<void, std::string> insert_all(SqliteConnection& db, const SweepRecords& records, HostColumns host) {
    std::string sql = "INSERT INTO run VALUES(?,?,?,?,?,?,?,?,?,?,?,?";
    for (std::size_t i = 0; i < metrics.size() + host_columns.size(); ++i) sql += ",?";
    auto statement = db.prepare(sql + ")");
    if (!statement) return std::unexpected(statement.error());
    for (const auto& [id, r] : records) {
        const Json words = r.run.to_json()["command"];
        int bound = statement->bind_after(0, r.run.id, std::string_view{r.is_done ? "done" : "failed"});
        bound = bind_json(*statement, bound, r.error.empty() ? Json{} : Json{r.error});
        bound = statement->bind_after(bound, r.run.load, r.run.trace, r.run.trace_hash, r.run.seed, r.run.config_hash, r.run.version,
                                      r.run.parameters.dump(), words.dump());
        bound = statement->bind_after(bound, r.report.is_null() ? std::optional<std::string>{} : std::optional{r.report.dump()});
        for (const Metric& m : metrics) bound = bind_json(*statement, bound, m.group.empty() ? r.report[m.key] : r.report[m.group][m.key]);
        for (const std::string_view column : host_columns) bound = bind_json(*statement, bound, host == HostColumns::none ? Json{} : r.host[column]);
        if (!statement->step()) return std::unexpected(db.error());
    }
    return {};
}

std::string text_at(sqlite3_stmt* row, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return text == nullptr ? std::string{} : std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

std::expected<SweepRecord, std::string> record_at(sqlite3_stmt* row) {
    const auto parameters = Json::parse(text_at(row, 6)), command = Json::parse(text_at(row, 7));
    if (!parameters || !command) return std::unexpected(fmt::format("run {} is damaged", text_at(row, 0)));
    const std::string report = text_at(row, 8);
    const auto parsed = report.empty() ? Json{} : Json::parse(report);
    if (!parsed) return std::unexpected(fmt::format("the report of run {} is damaged", text_at(row, 0)));
    Json host{Json::Object{}};
    for (std::size_t c = 0; c < host_columns.size(); ++c) {
        const int at = 12 + static_cast<int>(c);
        const int type = sqlite3_column_type(row, at);
        if (type == SQLITE_INTEGER) host.add(std::string{host_columns[c]}, static_cast<std::uint64_t>(sqlite3_column_int64(row, at)));
        if (type == SQLITE_FLOAT) host.add(std::string{host_columns[c]}, sqlite3_column_double(row, at));
    }
    const Json run = Json::object({{"id", text_at(row, 0)},
                                   {"load", text_at(row, 1)},
                                   {"trace", text_at(row, 2)},
                                   {"trace_hash", text_at(row, 3)},
                                   {"seed", static_cast<std::uint64_t>(sqlite3_column_int64(row, 4))},
                                   {"parameters", *parameters},
                                   {"config_hash", text_at(row, 5)},
                                   {"version", text_at(row, 9)},
                                   {"command", *command}});
    return SweepRecord::from_json(
        Json::object({{"run", run}, {"status", text_at(row, 10)}, {"error", text_at(row, 11)}, {"report", *parsed}, {"host", std::move(host)}}));
}

struct Free {
    void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};

std::expected<SqliteConnection, std::string> open_results(const std::string& path) {
    const auto why = [&](const std::string& text) { return std::unexpected(fmt::format("{}: {}", path, text)); };
    if (auto regular = check_regular_or_missing(path); !regular) return why(regular.error());
    auto db = SqliteConnection::open(path, SqliteAccess::read_only);
    if (!db) return std::unexpected(db.error());
    const auto id = db->number("PRAGMA application_id"), version = db->number("PRAGMA user_version");
    if (!id || !version || *id != application_id) return why("no results of flashlab sweep run");
    if (*version != format_version) return why(fmt::format("it is of format {}, this flashlab knows {}", *version, format_version));
    return db;
}

} // namespace

std::expected<void, std::string> add_record(SweepRecords& records, SweepRecord record) {
    const auto [at, is_new] = records.try_emplace(record.run.id, record);
    if (is_new) return {};
    SweepRecord& known = at->second;
    if (known.run.load != record.run.load || known.run.parameters.dump() != record.run.parameters.dump())
        return std::unexpected(
            fmt::format("run {} is listed as load '{}' {} and as load '{}' {}: these are databases of two plans: merge those of one", record.run.id,
                        known.run.load, known.run.parameters.dump(), record.run.load, record.run.parameters.dump()));
    if (known.is_done && record.is_done) {
        if (const std::string what = difference_of(known, record); !what.empty())
            return std::unexpected(
                fmt::format("run {} has two results: {}; one of the two was made by a changed program or a broken machine: make it "
                            "again with 'flashlab {}'",
                            record.run.id, what, fmt::join(record.run.command, " ")));
        if (record.host["wall_run_seconds"].real() < known.host["wall_run_seconds"].real()) known = std::move(record);
    } else if (record.is_done || (!known.is_done && record.error < known.error)) {
        known = std::move(record);
    }
    return {};
}

std::expected<SweepRecords, std::string> read_sweep_database(const std::string& path) {
    const auto why = [&](const std::string& text) { return std::unexpected(fmt::format("{}: {}", path, text)); };
    auto db = open_results(path);
    if (!db) return std::unexpected(db.error());
    std::string sql = "SELECT id, load, trace, trace_hash, seed, config_hash, parameters, command, report, version, status, error";
    for (const std::string_view column : host_columns) sql += fmt::format(", {}", column);
    auto statement = db->prepare(sql + " FROM run");
    if (!statement) return why(statement.error());
    SweepRecords records;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(statement->get())) == SQLITE_ROW) {
        auto record = record_at(statement->get());
        if (!record) return why(record.error());
        if (auto added = add_record(records, std::move(*record)); !added) return why(added.error());
    }
    if (result != SQLITE_DONE) return why(db->error());
    return records;
}

std::expected<void, std::string> write_sweep_database(const std::string& path, const SweepRecords& records, HostColumns host) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) != 0)
        if (auto old = open_results(path); !old) return std::unexpected(old.error() + ", and is not replaced; name another file");
    auto aside = AsideFile::make(path, AsideFile::Existing::replaced_database); // first, so that a place where nothing can be made costs no time
    if (!aside) return std::unexpected(aside.error());
    auto db = SqliteConnection::open(":memory:", SqliteAccess::create);
    if (!db) return std::unexpected(db.error());
    auto done = db->execute(
        fmt::format("PRAGMA application_id={};PRAGMA user_version={};BEGIN;{};{}", application_id, format_version, table_sql(), view_sql(records)));
    if (done) done = insert_all(*db, records, host);
    if (done) done = db->execute("COMMIT");
    if (!done) return done;
    sqlite3_int64 bytes = 0;
    const std::unique_ptr<unsigned char, Free> content{sqlite3_serialize(db->get(), "main", &bytes, 0)};
    if (!content) return std::unexpected(fmt::format("{}: no memory for it", path));
    done = aside->write({reinterpret_cast<const char*>(content.get()), static_cast<std::size_t>(bytes)});
    return done ? aside->commit() : done;
}

} // namespace flashlab
