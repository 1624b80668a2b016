// Logs of earlier versions: their views, and what becomes of them when they are written again.
#include <fmt/format.h>

#include "tests/tools/log/log_file.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/event_log_views.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A log is made older: its views go first, since they name what its tables lose.
std::string drop_views() {
    std::string out;
    for (const LogView& view : event_log_view_list()) out += fmt::format("DROP VIEW {};", view.name);
    return out;
}
/// SQLite drops no last column behind one with a comment: the table is made anew.
constexpr const char* drop_since_version_13 =
    "DROP TABLE logged; DROP TABLE load; DROP TABLE event_level_name; CREATE TABLE older_job(id INTEGER PRIMARY KEY, ts_ns INTEGER, dur_ns INTEGER, "
    "cause INTEGER, group_no INTEGER, victim_block INTEGER, "
    "valid_pages INTEGER) STRICT; INSERT INTO older_job SELECT id, ts_ns, dur_ns, cause, group_no, victim_block, valid_pages FROM gc_job; "
    "DROP TABLE gc_job; ALTER TABLE older_job RENAME TO gc_job; "
    "CREATE TABLE older_block(run INTEGER, block INTEGER, erase_count INTEGER, use INTEGER, written_pages INTEGER, valid_pages INTEGER, "
    "PRIMARY KEY(run, block)) STRICT, WITHOUT ROWID; INSERT INTO older_block SELECT run, block, erase_count, use, written_pages, valid_pages FROM "
    "block; DROP TABLE block; ALTER TABLE older_block RENAME TO block; "
    "CREATE TABLE older(id INTEGER PRIMARY KEY, ts_ns INTEGER, dur_ns INTEGER, op INTEGER, first_sector INTEGER, sectors INTEGER, fua INTEGER, "
    "failed INTEGER, piece INTEGER) STRICT; INSERT INTO older SELECT id, ts_ns, dur_ns, op, first_sector, sectors, fua, failed, piece FROM "
    "host_request; DROP TABLE host_request; ALTER TABLE older RENAME TO host_request; ";
const std::string drop_since_version_12 = std::string{"DROP TABLE sample_counter; DROP TABLE counter; "} + drop_since_version_13;
constexpr const char* drop_versions_7_to_11 = "; DROP TABLE sample_scheme; DROP TABLE block; DROP TABLE block_use_name"
                                              "; DROP TABLE cut_outcome; DROP TABLE fault; DROP TABLE cut_outcome_name; DROP TABLE fault_action_name"
                                              "; ALTER TABLE run DROP COLUMN first_op; ALTER TABLE run DROP COLUMN first_pram_write";

} // namespace

TEST_CASE("a log of version 3 is brought up when it is written again, keeps its rows, and its views count", "[tools]") {
    const LogFile file;
    {
        auto log = open_log(file, EventLevel::all);
        log->on(program(1000, Cause::gc));
        log->on(HostRequestEvent{
            .id = EventId{7}, .arrival = sim_time_from_ns(10), .completion = sim_time_from_ns(35), .op = HostOp::write, .sectors = 16});
        log->close();
        auto db = SqliteConnection::open(file.path(), SqliteAccess::create);
        REQUIRE(db.has_value());
        REQUIRE(db->execute(drop_views() + drop_since_version_12 +
                            "CREATE VIEW v_host_requests AS SELECT count(*) AS requests FROM "
                            "host_request; ALTER TABLE host_request DROP COLUMN piece; "
                            "CREATE TABLE old AS SELECT * FROM nand_op; DROP TABLE nand_op; ALTER TABLE old DROP COLUMN page_kind; ALTER TABLE old "
                            "DROP COLUMN own_page; "
                            "ALTER TABLE old RENAME TO nand_op; DROP TABLE page_kind_name; DROP TABLE uncorrectable_read; DROP TABLE "
                            "unreadable_file; PRAGMA user_version=3" +
                            std::string{drop_versions_7_to_11})
                    .has_value());
    }
    auto log = open_log(file, EventLevel::all);
    log->on(program(2000, Cause::user));
    log->on(
        HostRequestEvent{.id = EventId{1}, .arrival = sim_time_from_ns(50), .completion = sim_time_from_ns(60), .op = HostOp::write, .sectors = 16});
    log->close();
    CHECK(file.number("SELECT count(*) FROM nand_op") == 2);
    CHECK(file.number("SELECT page_kind FROM nand_op WHERE ts_ns=1000") == 0);
    CHECK(file.number("SELECT page_kind FROM nand_op WHERE ts_ns=2000") == 1);
    CHECK(file.number("SELECT count(*) FROM host_request WHERE piece=0") == 2);
    CHECK(file.number("SELECT requests FROM v_host_requests WHERE op='write'") == 2);
    CHECK(file.number("SELECT count(*) FROM page_kind_name") == 9);
    CHECK(file.number("SELECT count(*) FROM run WHERE (run = 1) = (first_op IS NULL AND first_pram_write IS NULL)") == 2);
    CHECK(file.number("SELECT first_op FROM run WHERE run = 2") == 1);
}

TEST_CASE("a log of version 5 is brought up and then like a new one", "[tools]") {
    const LogFile old, made;
    open_log(old, EventLevel::summary)->close();
    open_log(made, EventLevel::summary)->close();
    {
        auto db = SqliteConnection::open(old.path(), SqliteAccess::create);
        REQUIRE(db->execute(drop_views() + drop_since_version_12 + "DROP TABLE uncorrectable_read; DROP TABLE unreadable_file" +
                            std::string{drop_versions_7_to_11})
                    .has_value());
        REQUIRE(db->execute("PRAGMA user_version=" + std::to_string(5)).has_value());
    }
    auto log = open_log(old, EventLevel::summary);
    log->on(UncorrectableReadEvent{.request = EventId{1}, .at = sim_start});
    log->close();
    for (const char* sql : {"PRAGMA user_version", "SELECT count(*) FROM sqlite_schema", "SELECT count(*) FROM pragma_table_info('nand_op')"})
        CHECK(old.number(sql) == made.number(sql));
    CHECK(old.number("SELECT count(*) FROM run") == 2);
    CHECK(old.number("SELECT count(*) FROM v_unreadable") == 1);
}

TEST_CASE("a log of version 10 counts no reads that found nothing, its views say so, and brought up it counts them", "[tools]") {
    const LogFile file;
    const auto sampled = [&file] {
        auto log = open_log(file, EventLevel::summary);
        SampleEvent at;
        at.at = sim_time_from_ns(10);
        log->add_sample(at, SampleDetails{.channel_busy_ns = {}, .latency = {}, .counts = {.full_merges = 2, .read_pages = 8, .unmapped_reads = 2}});
        log->close();
    };
    sampled();
    {
        auto db = SqliteConnection::open(file.path(), SqliteAccess::create);
        REQUIRE(db->execute(drop_views() + drop_since_version_12 +
                            "ALTER TABLE sample_scheme DROP COLUMN read_pages; ALTER TABLE sample_scheme DROP COLUMN unmapped_reads; "
                            "PRAGMA user_version=10")
                    .has_value());
        REQUIRE(db->execute(event_log_temporary_views(10)).has_value());
        CHECK(db->number("SELECT count(*) FROM v_unmapped_reads WHERE run=1 AND unmapped_reads IS NULL AND share IS NULL") == 1);
        CHECK(db->number("SELECT full_merges FROM v_merge_kinds") == 2);
    }
    sampled();
    CHECK(file.number("PRAGMA user_version") == event_log_version());
    CHECK(file.number("SELECT count(*) FROM v_unmapped_reads WHERE run=1 AND share IS NULL") == 1);
    CHECK(file.number("SELECT share * 100 FROM v_unmapped_reads WHERE run=2") == 25);
}

TEST_CASE("a log of version 12 knows no queues: its requests waited for nothing, and brought up they are told apart", "[tools]") {
    const LogFile file;
    const auto logged = [&file](QueueId queue, Duration waited) {
        auto log = open_log(file, EventLevel::requests);
        log->on(HostRequestEvent{
            .id = EventId{1}, .arrival = sim_time_from_ns(500), .completion = sim_time_from_ns(600), .sectors = 8, .queue = queue, .waited = waited});
        log->close();
    };
    logged(first_queue, Duration{0});
    {
        auto db = SqliteConnection::open(file.path(), SqliteAccess::create);
        REQUIRE(db->execute(drop_views() + drop_since_version_13 + "PRAGMA user_version=12").has_value());
        REQUIRE(db->execute(event_log_temporary_views(12)).has_value());
        CHECK(db->number("SELECT queue FROM v_queues WHERE requests = 1 AND max_waited_us = 0 AND max_us = 0.1") == 0);
        CHECK(db->number("SELECT sum(ns) FROM v_blame_part") == 100);
    }
    logged(QueueId{3}, Duration{400});
    CHECK(file.number("PRAGMA user_version") == event_log_version());
    CHECK(file.number(
              "SELECT count(*) FROM v_queues WHERE (run = 1 AND queue = 0 AND max_waited_us = 0) OR (run = 2 AND queue = 3 AND max_us = 0.5)") == 2);
    CHECK(file.number("SELECT ns FROM v_blame_part WHERE run = 2 AND what = 'submission queue' AND ts_ns = 100 AND dur_ns = 500") == 400);
    CHECK(file.number("SELECT CAST(max_us * 1000 AS INTEGER) FROM v_request_pct WHERE run = 2") == 500);
    CHECK(file.number("SELECT CAST(max_us * 1000 AS INTEGER) FROM v_host_requests") == 500);
}

TEST_CASE("a log of version 15 does not know how many pages a block has, and brought up it is told", "[tools]") {
    const LogFile file;
    const auto logged = [&file](std::uint32_t victim_pages) {
        auto log = open_log(file, EventLevel::all);
        log->on(GcJobEvent{
            .id = log->next_id(), .start = sim_start, .end = sim_start, .valid_pages = 100, .cause = Cause::gc, .victim_pages = victim_pages});
        log->close();
    };
    logged(0);
    {
        auto db = SqliteConnection::open(file.path(), SqliteAccess::create);
        REQUIRE(db->execute(drop_views() + drop_since_version_13 + "PRAGMA user_version=15").has_value());
        REQUIRE(db->execute(event_log_temporary_views(15)).has_value());
        CHECK(db->number("SELECT pages_copied FROM v_gc_efficiency WHERE run = 1") == 100);
        CHECK(db->number("SELECT count(*) FROM v_blocks") == 0);
    }
    logged(300);
    CHECK(file.number("PRAGMA user_version") == event_log_version());
    CHECK(file.number("SELECT sum(victim_pages) FROM gc_job") == 300);
    CHECK(file.number("SELECT pages_freed FROM v_gc_efficiency WHERE run = 2") == 200);
}
