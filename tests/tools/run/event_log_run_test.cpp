// Goal: the log of a whole device is complete, adds up to the device's own counters, and is the same for the same configuration, input and seed.
// Method: a seeded load of writes, overwrites, deletions and reads on a 32 MiB device until garbage is collected, level all.
#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/crc32c.h"
#include "tests/tools/device_fixture.h"
#include "tools/log/sqlite.h"
#include "tools/run/virtual_calls.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::unique_ptr<DeviceDirectory> open_logged(const files::path& directory, EventLevel level) {
    OpenOptions options;
    options.log = level;
    auto opened = DeviceDirectory::open(directory, options);
    INFO((opened ? "" : opened.error()));
    REQUIRE(opened.has_value());
    return std::move(*opened);
}

SimTime synced(FileSystem& fs, SimTime now) {
    const auto done = sync_all(fs, now);
    REQUIRE(done.has_value());
    return *done;
}

/// Returns when it was done.
SimTime load(Device& device, unsigned seed, int rounds) {
    FileSystem& fs = device.fs();
    std::mt19937_64 random{seed};
    FsCall call{.now = device.ready_at(), .wall = FileTime{1, 0}};
    const auto take = [&](SimTime done) { call.now = std::max(call.now, done); };
    std::vector<std::byte> buffer(256 * 1024, std::byte{7});
    std::vector<Ino> inos;
    for (int i = 0; i < 10; ++i) {
        const auto node = fs.make_node(call, root_ino, fmt::format("file{}", i), 0100644, 0);
        REQUIRE(node.has_value());
        take(node->done);
        inos.push_back(node->value.ino);
    }
    for (int round = 0; round < rounds; ++round) {
        const Ino ino = inos[random() % inos.size()];
        const std::uint64_t offset = random() % (2u << 20);
        const auto done = fs.write(call, ino, offset, std::span{buffer}.first(1 + random() % buffer.size()));
        INFO(round << ": " << (done ? "" : std::strerror(done.error().error_number)));
        REQUIRE(done.has_value());
        take(done->done);
        if (round % 4 == 0) take(synced(fs, call.now));
        take(fs.tick(call.now) == sim_never ? call.now : call.now + Duration{1'000'000});
        device.settle(call.now);
    }
    take(synced(fs, call.now));
    return call.now;
}

std::string log_of(const files::path& directory) { return (directory / "events.db").string(); }

std::int64_t number_of(const files::path& directory, const std::string& sql) {
    auto db = SqliteConnection::open(log_of(directory), SqliteAccess::read_only);
    REQUIRE(db.has_value());
    const auto value = db->number(sql);
    INFO(sql << ": " << (value ? "" : value.error()));
    REQUIRE(value.has_value());
    return *value;
}

/// Every row of every table as text, in the order of the rows.
std::string all_rows(const files::path& directory) {
    auto db = SqliteConnection::open(log_of(directory), SqliteAccess::read_only);
    REQUIRE(db.has_value());
    const auto tables = db->prepare("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name");
    REQUIRE(tables.has_value());
    std::string out;
    while (sqlite3_step(tables->get()) == SQLITE_ROW) {
        const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(tables->get(), 0));
        out += name + "\n";
        const auto rows = db->prepare("SELECT * FROM " + name);
        REQUIRE(rows.has_value());
        while (sqlite3_step(rows->get()) == SQLITE_ROW) {
            for (int c = 0; c < sqlite3_column_count(rows->get()); ++c) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows->get(), c));
                out += text == nullptr ? "-" : text;
                out += ' ';
            }
            out += '\n';
        }
    }
    return out;
}

/// A device with its log of one run.
std::string logged_run(const files::path& directory, unsigned seed) {
    make(directory);
    auto opened = open_logged(directory, EventLevel::all);
    const SimTime end = load(opened->device(), seed, 300);
    REQUIRE(opened->close(end, {}).has_value());
    return all_rows(directory);
}

} // namespace

TEST_CASE("the same configuration, input and seed give the same rows, another input gives others", "[tools]") {
    const TemporaryDirectory work;
    const std::string one = logged_run(work / "one", 1);
    const std::string two = logged_run(work / "two", 1);
    const std::string other = logged_run(work / "other", 2);
    const auto hash = [](const std::string& rows) { return crc32c(std::as_bytes(std::span{rows})); };
    CHECK(hash(one) == hash(two));
    CHECK(hash(one) != hash(other));
    CHECK(one.size() > 100'000);
}

TEST_CASE("the log's rows add up to the device's counters, by operation and cause", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    auto opened = open_logged(work / "device", EventLevel::all);
    Device& device = opened->device();
    const SimTime end = load(device, 3, 400);
    REQUIRE(opened->close(end, {}).has_value());
    const auto device_history = open(work / "device", DeviceAccess::look)->history_now(); // the counters of smart
    const SampleEvent& counted = device_history.totals;
    const auto count = [&](const std::string& sql) { return static_cast<std::uint64_t>(number_of(work / "device", sql)); };
    REQUIRE(count("SELECT count(*) FROM gc_job") > 0);
    for (std::uint32_t cause = 0; cause < cause_count; ++cause) {
        CAPTURE(cause);
        const auto rows = [&](int op) {
            return count(fmt::format("SELECT CAST(total({}) AS INTEGER) FROM nand_op WHERE op={} AND cause={}", op == 2 ? "1" : "pages", op, cause));
        };
        CHECK(rows(0) == counted.nand_reads[cause]);
        CHECK(rows(1) == counted.nand_programs[cause]);
        CHECK(rows(2) == counted.nand_erases[cause]);
        for (const auto& [column, value] :
             {std::pair{"page_reads", counted.nand_reads[cause]}, std::pair{"page_programs", counted.nand_programs[cause]},
              std::pair{"block_erases", counted.nand_erases[cause]}})
            CHECK(count(fmt::format("SELECT CAST(total({}) AS INTEGER) FROM v_run_totals JOIN sample_nand USING(sample) WHERE cause={}", column,
                                    cause)) == value);
    }
    CHECK(count("SELECT count(*) FROM host_request WHERE op=0") == counted.host_reads);
    CHECK(count("SELECT count(*) FROM host_request WHERE op=1") == counted.host_writes);
    CHECK(count("SELECT count(*) FROM host_request WHERE op=2") == counted.host_trims);
    CHECK(count("SELECT count(*) FROM host_request WHERE op=3") == counted.host_flushes);
    CHECK(count("SELECT CAST(total(sectors) AS INTEGER) * 512 FROM host_request WHERE op=1") == counted.host_write_bytes);
    CHECK(count("SELECT host_write_bytes FROM v_run_totals") == counted.host_write_bytes);
    CHECK(count("SELECT CAST(total(log_words + home_words) AS INTEGER) FROM pram_write") == counted.pram_words_written);
    CHECK(count("SELECT count(*) FROM gc_job") == device_history.gc_jobs);
    CHECK(count("SELECT CAST(total(pages) AS INTEGER) FROM nand_op WHERE op=1 AND cause=1") == device_history.gc_page_copies);
}

TEST_CASE("every parent named in the log is in the log", "[tools]") {
    const TemporaryDirectory work;
    (void)logged_run(work / "device", 4);
    const auto orphans = [&](const std::string& table) {
        return number_of(work / "device",
                         "SELECT count(*) FROM " + table +
                             " t WHERE parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM host_request WHERE id=t.parent) "
                             "AND NOT EXISTS (SELECT 1 FROM gc_job WHERE id=t.parent) AND NOT EXISTS (SELECT 1 FROM fs_op WHERE id=t.parent)");
    };
    CHECK(orphans("nand_op") == 0);
    CHECK(orphans("pram_write") == 0);
    CHECK(number_of(work / "device", "SELECT count(*) FROM nand_op WHERE cause=0 AND parent IS NULL") == 0);
    CHECK(number_of(work / "device", "SELECT count(*) FROM pragma_foreign_key_check") == 0);
}

TEST_CASE("the log of a mount after a cut tells the whole recovery, the drive's and the file system's", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    cut(work / "device");
    const auto history = open(work / "device", DeviceAccess::look)->history_now();
    auto opened = open_logged(work / "device", EventLevel::summary);
    const auto recovery = opened->device().ready_at() - sim_time_from_ns(history.clock_ns);
    const auto drive_only = opened->device().recovery().done - sim_time_from_ns(history.clock_ns);
    close(*opened);
    CHECK(number_of(work / "device", "SELECT recovery_ns FROM power JOIN power_kind_name USING(kind) WHERE name='recovery'") == recovery.count());
    CHECK(recovery > drive_only);
    CHECK(number_of(work / "device", "SELECT count(*) FROM power JOIN power_kind_name USING(kind) WHERE name='mount'") == 1);
    CHECK(number_of(work / "device", "SELECT count(*) FROM power JOIN power_kind_name USING(kind) WHERE name='clean_unmount'") == 1);
}
