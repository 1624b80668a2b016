// The event log: golden rows, totals, levels, views, failures.
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <stdlib.h>

#include "tests/tools/log/log_file.h"

#include "tools/log/event_log_views.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("rows hold what the events said", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::all);
    NandOpEvent e = program(1000, Cause::gc);
    e.origin.parent = EventId{7};
    e.channel = ChannelId{1};
    e.plane = PlaneId{5};
    e.block = BlockId{77};
    e.page = 3;
    e.lpn = Lpn{4242};
    log->on(e);
    log->on(HostRequestEvent{.id = EventId{7},
                             .arrival = sim_time_from_ns(10),
                             .completion = sim_time_from_ns(35),
                             .op = HostOp::write,
                             .first = Sector{8},
                             .sectors = 16,
                             .fua = true});
    log->close();
    CHECK(file.number(
              "SELECT count(*) FROM nand_op WHERE ts_ns=1000 AND dur_ns=700 AND op=1 AND cause=1 AND parent=7 AND channel=1 AND plane=5 AND block=77 "
              "AND page=3 AND pages=1 AND lpn=4242") == 1);
    CHECK(file.number("SELECT count(*) FROM host_request WHERE id=7 AND ts_ns=10 AND dur_ns=25 AND op=1 AND first_sector=8 AND sectors=16 AND fua=1 "
                      "AND failed=0") == 1);
    CHECK_FALSE(std::filesystem::exists(file.path() + "-wal"));
}

TEST_CASE("an uncorrectable read is a row at level summary, with its file where one is known, and the view counts them", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::summary);
    const UncorrectableReadEvent event{
        .request = EventId{7}, .at = sim_time_from_ns(35), .op = HostOp::read, .first = Sector{8}, .sectors = 16, .bad = Sector{16}};
    log->on(event);
    log->add_unreadable_file({.ino = Ino{12}, .offset = 4096, .bytes = 8192, .path = "/a/b"});
    log->add_unreadable_file({.ino = Ino{13}, .offset = 0, .bytes = 1}); // of no request of the drive: it does not take another's
    UncorrectableReadEvent again = event;
    again.request = EventId{9};
    log->on(again);
    log->close();
    CHECK(file.number(
              "SELECT count(*) FROM uncorrectable_read WHERE request=7 AND ts_ns=35 AND op=0 AND first_sector=8 AND sectors=16 AND bad_sector=16") ==
          1);
    CHECK(file.number("SELECT count(*) FROM unreadable_file WHERE request=7 AND ino=12 AND offset_bytes=4096 AND bytes=8192 AND path='/a/b'") == 1);
    CHECK(file.number("SELECT count(*) FROM unreadable_file WHERE request IS NULL AND ino=13 AND path IS NULL") == 1);
    CHECK(file.number("SELECT sum(requests) FROM v_unreadable WHERE bad_sector=16") == 2);
    CHECK(file.number("SELECT count(*) FROM v_unreadable WHERE path='/a/b' AND requests=1") == 1);
}

TEST_CASE("no event is lost, and levels let through what they name", "[tools]") {
    const auto [level, host, nand] =
        GENERATE(table<EventLevel, int, int>({{EventLevel::summary, 0, 0}, {EventLevel::requests, 100'000, 0}, {EventLevel::all, 100'000, 100'000}}));
    const LogFile file;
    auto log = open_log(file, level);
    for (int i = 0; i < 100'000; ++i) {
        const SimTime at = sim_time_from_ns(std::int64_t{i} * 1'000'000);
        log->on(HostRequestEvent{.id = log->next_id(),
                                 .arrival = at,
                                 .completion = at + Duration{750'000},
                                 .first = Sector{static_cast<std::uint64_t>(i) * 97 % 8'000'000},
                                 .sectors = 8});
        log->on(program(i, Cause::user));
    }
    log->on(SampleEvent{});
    log->close();
    CHECK(file.number("SELECT count(*) FROM host_request") == host);
    CHECK(file.number("SELECT count(*) FROM nand_op") == nand);
    CHECK(file.number("SELECT count(*) FROM sample") == 1);
    if (level == EventLevel::requests) CHECK(std::filesystem::file_size(file.path()) / 100'000 <= 45);
}

TEST_CASE("rows keep the order of their events, whoever writes them", "[tools]") {
    const bool yields = GENERATE(false, true);
    CAPTURE(yields);
    const LogFile file;
    auto log = open_log(file, EventLevel::all, std::uint64_t{1} << 30, yields);
    // More at once than may wait, after a moment in which the thread of idle moments could begin: the ordinary one takes over, and waits for what it
    // has begun.
    constexpr int rounds = 4, events = 80'000;
    for (int i = 0; i < rounds * events; ++i) {
        log->on(program(i, Cause::user));
        if (i % events == 20'000) // 19 batches: enough for it, not yet too many
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        if (i % events == events / 2) {
            log->flush();
            CHECK(file.number("SELECT count(*) FROM nand_op") == i + 1);
        }
    }
    log->close();
    CHECK(log->failure().empty());
    CHECK(file.number("SELECT count(*) FROM nand_op WHERE ts_ns = n - 1") == rounds * events);
}

TEST_CASE("what waits for no full batch is written within moments", "[tools]") {
    const bool yields = GENERATE(false, true);
    CAPTURE(yields);
    const LogFile file;
    auto log = open_log(file, EventLevel::requests, std::uint64_t{1} << 30, yields);
    FsOpEvent event;
    event.id = log->next_id();
    log->on(event);
    for (int tries = 0; tries < 1000 && file.number("SELECT count(*) FROM fs_op") == 0; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    CHECK(file.number("SELECT count(*) FROM fs_op") == 1);
}

TEST_CASE("a few batches are gathered beside a mount, and all of them are written in the end, there and elsewhere", "[tools]") {
    using namespace std::chrono;
    const bool yields = GENERATE(false, true);
    CAPTURE(yields);
    const LogFile file;
    auto log = open_log(file, EventLevel::all, std::uint64_t{1} << 30, yields);
    constexpr int events = 4 * 1024;
    const auto began = steady_clock::now();
    for (int i = 0; i < events; ++i) log->on(program(i, Cause::user));
    std::this_thread::sleep_for(milliseconds{30});
    const auto at_once = file.number("SELECT count(*) FROM nand_op");
    if (yields && steady_clock::now() - began < milliseconds{90}) // later, it has been quiet
        CHECK(at_once == 0);
    for (int tries = 0; tries < 1000 && file.number("SELECT count(*) FROM nand_op") < events; ++tries) std::this_thread::sleep_for(milliseconds{10});
    CHECK(file.number("SELECT count(*) FROM nand_op") == events);
}

TEST_CASE("a call keeps its id, whether ids go on counting, leave some out or come in another order, beside a reader's index, too", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::all);
    std::int64_t calls = 0;
    for (const std::vector<std::uint64_t>& batch : std::vector<std::vector<std::uint64_t>>{
             {1, 2, 3}, {4, 5}, {9, 7, 8}, {10}, {12, 14, 13}, {15, 17}, {11}, {18, 19}, {6, 16}, {20, 21}, {22, 24}, {23}}) {
        for (const std::uint64_t id : batch) {
            FsOpEvent call;
            call.id = EventId{id};
            call.start = call.end = sim_time_from_ns(static_cast<std::int64_t>(1000 * id));
            call.ino = Ino{id};
            log->on(call);
            NandOpEvent operation = program(static_cast<std::int64_t>(id), Cause::user);
            operation.origin.parent = EventId{id};
            log->on(operation);
        }
        log->flush();
        calls += static_cast<std::int64_t>(batch.size());
        CHECK(file.number("SELECT count(*) FROM fs_op WHERE ino = id AND ts_ns = 1000 * id AND id = rowid") == calls);
        CHECK(file.number("SELECT count(*) FROM nand_op JOIN fs_op ON parent = id WHERE nand_op.ts_ns = id AND n <= " + std::to_string(calls)) ==
              calls);
        if (calls == 21) // of somebody who looks on
            REQUIRE(SqliteConnection::open(file.path(), SqliteAccess::create)->execute("CREATE INDEX mine ON fs_op(ino)").has_value());
    }
    log->close();
    CHECK(log->failure().empty());
    CHECK(file.number("SELECT count(*) FROM fs_op INDEXED BY mine WHERE ino BETWEEN 1 AND 24") == 24);
    CHECK(file.number("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%id INTEGER PRIMARY KEY%' AND name = 'fs_op'") == 1);
    CHECK(file.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1);
}

TEST_CASE("ids that others take in between, few among many, leave no rows behind, and a call that has one may come later", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::requests);
    std::int64_t calls = 0;
    const auto tell_of = [&](std::uint64_t first, bool of_ninths) {
        for (std::uint64_t id = first; id < first + 100; ++id) {
            if ((id % 9 == 0) != of_ninths) continue;
            FsOpEvent call;
            call.id = EventId{id};
            call.ino = Ino{id};
            log->on(call);
            ++calls;
        }
        log->flush();
        CHECK(file.number("SELECT count(*) FROM fs_op") == calls);
        CHECK(file.number("SELECT count(*) FROM fs_op WHERE ino = id") == calls);
    };
    for (const std::uint64_t first : {1, 101, 201}) {
        tell_of(first, false);
        if (first == 101) // of somebody who looks on
            REQUIRE(SqliteConnection::open(file.path(), SqliteAccess::create)->execute("CREATE INDEX mine ON fs_op(ino)").has_value());
        tell_of(first, true);
    }
    log->close();
    CHECK(log->failure().empty());
    CHECK(file.number("SELECT count(*) FROM fs_op INDEXED BY mine WHERE ino BETWEEN 1 AND 300") == 300);
    CHECK(file.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1);
}

TEST_CASE("ids of a second run follow those of the first", "[tools]") {
    const LogFile file;
    for (int run = 0; run < 2; ++run) {
        auto log = open_log(file, EventLevel::requests);
        for (int i = 0; i < 3; ++i) {
            FsOpEvent event;
            event.id = log->next_id();
            log->on(event);
        }
    }
    CHECK(file.number("SELECT count(DISTINCT id) FROM fs_op") == 6);
    CHECK(file.number("SELECT max(first_id) FROM run") == 3);
}

TEST_CASE("requests that two runs number alike are two rows at level summary, too, where only those that failed are kept", "[tools]") {
    const LogFile file;
    for (int run = 0; run < 2; ++run) {
        auto log = open_log(file, EventLevel::summary);
        log->on(UncorrectableReadEvent{.request = EventId{7}, .at = sim_start});
        log->close();
        CHECK(log->failure().empty());
    }
    CHECK(file.number("SELECT count(*) FROM uncorrectable_read") == 2);
    CHECK(file.number("SELECT count(DISTINCT run) FROM uncorrectable_read") == 2);
}

TEST_CASE("summary alone answers write amplification by cause, p99 latency and the busiest channel", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::summary);
    SampleEvent s;
    s.at = sim_time_from_ns(1'000'000);
    s.host_write_bytes = 10 * 4096;
    s.nand_programs[0] = 10;
    s.nand_programs[1] = 5;
    log->add_sample(s, SampleDetails{{100, 900}, {FsLatencyRow{FsOp::fsync, 4, 0, 1000, 9000, 9500}}, {}});
    log->close();
    CHECK(file.number("SELECT waf * 10 FROM v_waf_by_cause WHERE cause='user'") == 10);
    CHECK(file.number("SELECT waf * 10 FROM v_waf_by_cause WHERE cause='gc'") == 5);
    CHECK(file.number("SELECT p99_us FROM v_latency_pct WHERE op='fsync'") == 9);
    CHECK(file.number("SELECT channel FROM v_channel_util LIMIT 1") == 1);
}

TEST_CASE("every ready view can be asked on an empty log", "[tools]") {
    const LogFile file;
    open_log(file, EventLevel::summary)->close();
    for (const LogView& view : event_log_view_list()) {
        CAPTURE(view.name);
        CHECK(file.number(fmt::format("SELECT count(*) = {:d} FROM {}", view.name == "v_waf" || view.name == "v_run_span", view.name)) == 1);
    }
}

TEST_CASE("hits and merges of a run count from its beginning, and what a block holds is what was last said of it", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::summary);
    SampleEvent at;
    log->begin_run_at(at, SampleDetails{.channel_busy_ns = {},
                                        .latency = {},
                                        .counts = {.buffer_read_hits = 100, .full_merges = 7, .read_pages = 50, .unmapped_reads = 9}});
    at.at = sim_time_from_ns(10);
    log->add_sample(
        at,
        SampleDetails{
            .channel_busy_ns = {},
            .latency = {},
            .counts = {
                .buffer_read_hits = 103, .buffer_read_misses = 1, .map_write_hits = 4, .full_merges = 9, .read_pages = 54, .unmapped_reads = 12}});
    log->add_wear({{{1, 2}}, {{BlockId{0}, 1, 2, 10, 4}, {BlockId{1}, 1, 0, 0, 0}}});
    log->add_wear({{{2, 2}}, {{BlockId{0}, 2, 2, 16, 6}, {BlockId{1}, 2, 1, 3, 3}}});
    log->close();
    CHECK(file.number("SELECT hit_ratio * 100 FROM v_hit_ratios WHERE cache='write buffer, reads'") == 75);
    CHECK(file.number("SELECT hits FROM v_hit_ratios WHERE cache='maps, writes'") == 4);
    CHECK(file.number("SELECT count(*) FROM v_hit_ratios") == 2);
    CHECK(file.number("SELECT full_merges FROM v_merge_kinds") == 2);
    CHECK(file.number("SELECT unmapped_reads FROM v_unmapped_reads") == 3);
    CHECK(file.number("SELECT share * 1000 FROM v_unmapped_reads") == 750);
    CHECK(file.number("SELECT count(*) FROM block") == 2);
    CHECK(file.number("SELECT invalid_pages FROM v_blocks WHERE use='data'") == 10);
    CHECK(file.number("SELECT blocks FROM v_wear_hist WHERE erase_count=2") == 2);
    CHECK(file.number("SELECT count(*) FROM v_wear_hist") == 1);
}

TEST_CASE("beyond the cap the oldest rows go and the run says how many", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::all, 1u << 20);
    for (int i = 0; i < 100'000; ++i) log->on(program(i, Cause::user));
    log->close();
    CHECK(file.number("SELECT rows_dropped + (SELECT count(*) FROM nand_op) FROM run") == 100'000);
    CHECK(file.number("SELECT max(ts_ns) FROM nand_op") == 99'999);
    CHECK(file.number("SELECT min(ts_ns) FROM nand_op") > 0);
}

TEST_CASE("a file that is no event log is left alone", "[tools]") {
    const LogFile file;
    {
        auto db = SqliteConnection::open(file.path(), SqliteAccess::create);
        REQUIRE(db->execute("CREATE TABLE mine(x)").has_value());
    }
    const auto log = SqliteEventLog::open(EventLogConfig{.path = file.path()});
    REQUIRE_FALSE(log.has_value());
    CHECK(file.number("SELECT count(*) FROM sqlite_schema") == 1);
}

TEST_CASE("the pieces of a request that a replay splits are rows of their own, and one request of the view", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::all);
    std::uint64_t id = 1;
    for (const std::uint32_t of : {0u, 1u, 2u, 1u, 1u, 2u, 0u}) { // whole, two split ones (a piece of the second is two requests of the drive), whole
        log->on(HostRequestEvent{.id = EventId{id},
                                 .arrival = sim_time_from_ns(100),
                                 .completion = sim_time_from_ns(200 + static_cast<std::int64_t>(id)),
                                 .op = HostOp::read,
                                 .sectors = 8,
                                 .piece = of});
        ++id;
    }
    log->close();
    CHECK(file.number("SELECT count(*) FROM host_request") == 7);
    CHECK(file.number("SELECT count(*) FROM host_request WHERE piece<>0") == 5);
    CHECK(file.number("SELECT requests FROM v_host_requests WHERE op='read'") == 4);
    CHECK(file.number("SELECT bytes FROM v_host_requests WHERE op='read'") == 7 * 8 * 512);
    CHECK(file.number("SELECT CAST(max_us * 1000 AS INTEGER) FROM v_host_requests WHERE op='read'") == 107);
}

TEST_CASE("an event log has one writer at a time, and the second is told so", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::all);
    log->on(program(1, Cause::user));
    const auto second = SqliteEventLog::open(EventLogConfig{.path = file.path(), .level = EventLevel::all});
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().find("another flashlab writes this event log") != std::string::npos);
    log->close();
    log.reset();
    CHECK(file.number("SELECT count(*) FROM nand_op") == 1);
    open_log(file, EventLevel::all)->close();
    CHECK(file.number("SELECT count(*) FROM run") == 2);
}

TEST_CASE("a cut takes back the rows of operations whose cells had not begun, and fails the requests that had no answer", "[tools]") {
    const LogFile file;
    const auto request = [](std::uint64_t id, std::int64_t from, std::int64_t to) {
        return HostRequestEvent{
            .id = EventId{id}, .arrival = sim_time_from_ns(from), .completion = sim_time_from_ns(to), .op = HostOp::write, .sectors = 8};
    };
    const auto write_all = [&](SqliteEventLog& log) {
        log.on(program(100, Cause::user)); // ends before the cut
        log.on(program(900, Cause::gc));   // the cut tears it
        NandOpEvent late = program(960, Cause::gc), read = program(960, Cause::gc);
        late.phases.cells = read.phases.cells = sim_time_from_ns(1000);
        read.op = NandOp::read;
        log.on(late);
        log.on(read);
        log.on(request(log.next_id().value(), 50, 999));
        log.on(request(log.next_id().value(), 60, 1001));
    };
    auto log = open_log(file, EventLevel::all);
    write_all(*log);
    log->close();
    log = open_log(file, EventLevel::all); // the run before is not this cut's
    write_all(*log);
    log->on(PowerEvent{.kind = PowerEventKind::cut, .at = sim_time_from_ns(1000)});
    log->close();
    CHECK(file.number("SELECT count(*) FROM power WHERE ts_ns=1000 AND run=2 AND kind=2") == 1);
    CHECK(file.number("SELECT count(*) FROM nand_op WHERE n <= (SELECT first_op FROM run WHERE run=2)") == 4);
    CHECK(file.number("SELECT count(*) FROM nand_op WHERE n > (SELECT first_op FROM run WHERE run=2)") == 3);
    CHECK(file.number("SELECT count(*) FROM nand_op WHERE n > (SELECT first_op FROM run WHERE run=2) AND ts_ns=960 AND op=0") == 1);
    CHECK(file.number("SELECT count(*) FROM host_request WHERE failed") == 1);
    CHECK(file.number("SELECT ts_ns + dur_ns FROM host_request WHERE failed") == 1000);
}

TEST_CASE("a log says from when to when it has the rows of a level", "[tools]") {
    const LogFile file;
    auto log = open_log(file, EventLevel::summary);
    log->change_level(EventLevel::all, sim_time_from_ns(1000));
    NandOpEvent op = program(1500, Cause::user);
    op.phases.cells = op.start;
    op.phases.cells_end = op.end;
    log->on(op);
    log->change_level(EventLevel::requests, sim_time_from_ns(3000));
    SampleEvent last;
    last.at = sim_time_from_ns(10'000);
    log->add_sample(last, {});
    log->close();
    CHECK(file.number("SELECT count(*) FROM logged") == 3);
    CHECK(file.number("SELECT end_ns - begin_ns FROM v_recorded WHERE level='all'") == 2000);
    CHECK(file.number("SELECT begin_ns FROM v_recorded WHERE level='requests'") == 3000);
    CHECK(file.number("SELECT end_ns FROM v_recorded WHERE level='requests'") == 10'000);
    CHECK(file.number("SELECT CAST(utilisation * 10000 AS INTEGER) FROM v_plane_util") == 3500); // 700 of 2,000 ns, not of 10,000
}
