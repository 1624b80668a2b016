// The schema that follows from the descriptors: what a version is, what may be added, where references lead.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "tests/support/catch.h"
#include "tools/log/event_batch.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/event_log_views.h"
#include "tools/log/sqlite.h"

using namespace flashlab;

namespace {

SqliteConnection new_database() {
    auto db = SqliteConnection::open(":memory:", SqliteAccess::create);
    REQUIRE(db.has_value());
    REQUIRE(db->execute(event_log_tables() + event_log_enums() + event_log_views()).has_value());
    return std::move(*db);
}

} // namespace

TEST_CASE("a version of the event log is one schema: what changes it takes the next number", "[tools]") {
    const std::string text = event_log_tables() + event_log_enums() + event_log_views();
    INFO("a database of version " << event_log_version()
                                  << " is made of another text than before: describe the change with a new `since`, and pin the new version here");
    CHECK(event_log_version() == 21);
    CHECK(crc32c(std::as_bytes(std::span{text})) == 0x589eb213u);
}

TEST_CASE("what a version adds stands behind what was there, as ALTER TABLE puts it", "[tools]") {
    int since = oldest_log_version;
    for (const TableDescription& table : event_log_descriptions()) {
        CAPTURE(table.text.name);
        CHECK(table.text.since >= since);
        since = table.text.since;
        CHECK(std::ranges::is_sorted(table.columns, {}, [](const ColumnDescription& c) { return c.text.since; }));
    }
}

TEST_CASE("every reference of a column leads to a table, and a table of names to its column", "[tools]") {
    auto db = new_database();
    for (const TableDescription& table : event_log_descriptions())
        for (const ColumnDescription& c : table.columns) {
            CAPTURE(table.text.name, c.text.name);
            if (!c.refers_to.empty())
                CHECK(db.number(fmt::format("SELECT count(*) FROM sqlite_schema WHERE type='table' AND name='{}'", c.refers_to)) == 1);
            if (c.refers_to_names) CHECK(db.number(fmt::format("SELECT count({}) FROM {}", c.text.name, c.refers_to)).value_or(0) > 0);
        }
}

TEST_CASE("every column says on the page what it means", "[tools]") {
    for (const TableDescription& table : event_log_descriptions()) {
        CAPTURE(table.text.name);
        CHECK_FALSE((table.text.about.empty() && table.text.more.empty()));
        for (const ColumnDescription& c : table.columns) {
            CAPTURE(c.text.name);
            CHECK_FALSE((c.text.comment.empty() && c.text.meaning.empty()));
        }
    }
}

TEST_CASE("SQLite sees the columns of a table as its descriptor says them", "[tools]") {
    auto db = new_database();
    for (const TableDescription& table : event_log_descriptions()) {
        CAPTURE(table.text.name);
        CHECK(db.number(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", table.text.name)) ==
              static_cast<std::int64_t>(table.columns.size()));
        for (std::size_t at = 0; at < table.columns.size(); ++at) {
            const ColumnDescription& c = table.columns[at];
            CAPTURE(c.text.name);
            const bool is_not_null = !c.may_be_null && !c.is_key;
            CHECK(db.number(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE cid={} AND name='{}' AND type='{}' AND \"notnull\"={}",
                                        table.text.name, at, c.text.name, c.type, is_not_null ? 1 : 0)) == 1);
        }
    }
}
