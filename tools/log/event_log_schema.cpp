#include "tools/log/event_log_schema.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/log/event_level.h"
#include "tools/log/event_log_views.h"
#include "tools/log/event_tables.h"

namespace flashlab {
namespace {

std::string name_table_sql(const NameTable& t) {
    return fmt::format("CREATE TABLE {}({} INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n", t.table, t.column);
}

std::string name_rows_sql(const NameTable& t) {
    std::string out;
    for (std::size_t i = 0; i < t.names.size(); ++i) out += fmt::format("INSERT OR IGNORE INTO {} VALUES({},'{}');\n", t.table, i, t.names[i]);
    return out;
}

/// The type of a column with what may stand in it.
std::string type_sql(const ColumnDescription& c) {
    if (c.is_key) return fmt::format("{} PRIMARY KEY", c.type);
    return fmt::format("{}{}", c.type, c.may_be_null ? "" : " NOT NULL");
}

std::string column_sql(const ColumnDescription& c, bool is_last) {
    const std::string definition =
        fmt::format("  {} {}{}{}{}", c.text.name, type_sql(c), c.refers_to.empty() ? "" : " REFERENCES ", c.refers_to, is_last ? "" : ",");
    return c.text.comment.empty() ? definition + "\n" : fmt::format("{:<35} -- {}\n", definition, c.text.comment);
}

std::string table_sql(const TableDescription& t) {
    std::string out;
    if (!t.text.about.empty()) out += fmt::format("\n-- {}{}\n", t.text.level ? fmt::format("level {}: ", name_of(*t.text.level)) : "", t.text.about);
    out += fmt::format("CREATE TABLE {}(\n", t.text.name);
    const bool has_key_of_several = !t.text.primary_key.empty();
    for (const ColumnDescription& c : t.columns) out += column_sql(c, !has_key_of_several && &c == &t.columns.back());
    if (has_key_of_several) out += fmt::format("  PRIMARY KEY({})\n", t.text.primary_key);
    return out + (has_key_of_several ? ") STRICT, WITHOUT ROWID;\n" : ") STRICT;\n");
}

/// In rows that are there it says nothing. Without its reference: SQLite wants a NULL there.
std::string added_column_sql(const TableDescription& t, const ColumnDescription& c) {
    const std::string_view nothing = c.may_be_null ? "" : c.type == "TEXT" ? " DEFAULT ''" : " DEFAULT 0";
    return fmt::format("ALTER TABLE {} ADD COLUMN {} {}{};\n", t.text.name, c.text.name, type_sql(c), nothing);
}

} // namespace

std::string_view name_of_fs_op(std::uint8_t op) { return op < fs_op_names.size() ? fs_op_names[op] : "?"; }
std::string_view name_of_cause(std::uint8_t cause) { return cause < cause_names.size() ? cause_names[cause] : "?"; }

const std::vector<TableDescription>& event_log_descriptions() {
    static const std::vector<TableDescription> all =
        std::apply([](const auto&... table) { return std::vector{describe_table(table)...}; }, all_tables);
    return all;
}

std::span<const NameTable> event_log_name_tables() { return name_tables; }

int event_log_version() {
    int version = std::max(oldest_log_version, event_log_views_since);
    for (const NameTable& t : name_tables) version = std::max(version, t.since);
    for (const TableDescription& t : event_log_descriptions()) {
        version = std::max(version, t.text.since);
        for (const ColumnDescription& c : t.columns) version = std::max(version, c.text.since);
    }
    return version;
}

std::string event_log_enums() {
    std::string out;
    for (const NameTable& t : name_tables) out += name_rows_sql(t);
    return out;
}

std::string event_log_upgrade(std::int64_t version) {
    std::string out;
    for (const NameTable& t : name_tables) // a table that was there may have got names
        out += (t.since > version ? name_table_sql(t) : "") + name_rows_sql(t);
    for (const TableDescription& t : event_log_descriptions())
        for (const ColumnDescription& c : t.columns)
            if (t.text.since <= version && c.text.since > version) out += added_column_sql(t, c);
    for (const TableDescription& t : event_log_descriptions())
        if (t.text.since > version) out += table_sql(t);
    return out;
}

std::string event_log_tables() {
    std::string out =
        "-- Times are simulated nanoseconds since the device was made. Ids are unique in the file; a parent is the id of a host_request, fs_op or "
        "gc_job.\n\n-- names of the small numbers used below\n";
    for (const NameTable& t : name_tables) out += name_table_sql(t);
    int since = oldest_log_version;
    for (const TableDescription& t : event_log_descriptions()) {
        if (t.text.since > since) out += fmt::format("\n-- since version {}\n", t.text.since);
        since = t.text.since;
        out += table_sql(t);
    }
    return out;
}

} // namespace flashlab
