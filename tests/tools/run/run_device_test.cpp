/// Runs on a drive that exists, with payload, and runs whose events go to a file.
#include "tools/run/run_device.h"

#include <cstring>

#include <fmt/format.h>

#include "base/random.h"
#include "tests/tools/device_fixture.h"
#include "tools/log/sqlite.h"
#include "tools/run/precondition.h"
#include "tools/run/run_report.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Aligned and unaligned requests over the whole space.
NextRequest mixed_load(std::uint64_t bytes, int count, std::uint64_t seed) {
    return [random = Random{seed}, left = count, sectors = bytes / sector_bytes](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left-- == 0) return false;
        const std::uint64_t kind = random.below(20);
        const std::uint64_t length = 1 + random.below(40);
        request = {0, random.below(sectors - length) * sector_bytes, length * sector_bytes, 0,
                   kind < 8     ? TraceOp::read
                   : kind == 18 ? TraceOp::trim
                   : kind == 19 ? TraceOp::flush
                                : TraceOp::write};
        return true;
    };
}

std::unique_ptr<RunDevice> open_run(const DeviceChoice& choice) {
    auto on = RunDevice::open(choice, {.kind = "replay", .default_bytes = 64u << 20});
    INFO((on ? "" : on.error().text));
    REQUIRE(on.has_value());
    return std::move(*on);
}

/// A device of 64 MiB in memory, with a log of this level.
DeviceChoice logged(const std::filesystem::path& events, const char* level) {
    DeviceChoice choice;
    choice.size_bytes = 64u << 20;
    choice.events_file = events;
    choice.log = level;
    return choice;
}

RunSpace sectors_of(RunDevice& on) {
    auto space = on.sectors();
    INFO((space ? "" : space.error()));
    REQUIRE(space.has_value());
    return std::move(*space);
}

RunTally run(RunDevice& on, int count, std::uint64_t seed) {
    const RunSpace space = sectors_of(on);
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    on.begin_log(space.begin);
    auto tally = replay(space, mixed_load(space.bytes(), count, seed), fit, {.depth = 4}, space.begin);
    INFO((tally ? "" : tally.error()));
    REQUIRE(tally.has_value());
    return std::move(*tally);
}

std::int64_t number_in(const files::path& log, const std::string& sql) {
    auto db = SqliteConnection::open(log, SqliteAccess::read_only);
    REQUIRE(db.has_value());
    const auto value = db->number(sql);
    INFO((value ? "" : value.error()));
    REQUIRE(value.has_value());
    return *value;
}

} // namespace

TEST_CASE("a replay on a drive reads back what it wrote, and leaves file system and other files sound", "[run-device]") {
    TemporaryDirectory t;
    make(t / "d");
    {
        auto opened = open(t / "d", DeviceAccess::use);
        write_something(*opened);
        close(*opened);
    }
    for (std::uint64_t round = 1; round <= 2; ++round) {
        DeviceChoice choice;
        choice.directory = t / "d";
        auto on = open_run(choice);
        const auto tally = run(*on, 1500, round);
        CHECK(tally.requests() == 1500);
        CHECK(on->sectors_verified() > 1500);
        for (const auto& problem : on->device().ssd().check()) FAIL(problem.invariant << ": " << problem.where << ": " << problem.detail);
        REQUIRE(on->close(tally.end).has_value());
    }
    auto opened = open(t / "d", DeviceAccess::check);
    for (const auto& problem : opened->device().fs().check()) FAIL(problem.kind << ": " << problem.where << ": " << problem.detail);
    FsCall call{.now = opened->device().ready_at(), .wall = FileTime{2, 0}};
    const auto file = opened->device().fs().lookup(call, root_ino, "file");
    REQUIRE(file.has_value());
    std::vector<std::byte> data(100'000);
    REQUIRE(opened->device().fs().read(call, file->value.ino, 0, data)->value == data.size());
    CHECK(std::ranges::all_of(data, [](std::byte b) { return b == std::byte{7}; }));
    CHECK(opened->device().fs().lookup(call, root_ino, "replay.data").has_value());
    close(*opened);
}

TEST_CASE("a stamp is found wrong in another sector, and when a bit of it changes", "[run-device]") {
    PayloadStamp stamp;
    const auto written = stamp.stamped(Sector{100}, 3);
    std::vector<std::byte> copy(written.begin(), written.end());
    CHECK_FALSE(stamp.find_wrong(Sector{100}, copy).has_value());
    CHECK_FALSE(stamp.find_wrong(Sector{5}, std::vector<std::byte>(1024)).has_value());
    CHECK(stamp.find_wrong(Sector{101}, copy) == "sector 101 holds what was written to sector 100");
    copy[1200] ^= std::byte{4};
    CHECK(stamp.find_wrong(Sector{100}, copy) == "sector 102 holds bytes that nobody wrote there");
}

TEST_CASE("the log of a run in memory has its requests and nothing of what came before", "[run-device]") {
    TemporaryDirectory t;
    for (const char* name : {"a.db", "b.db"}) {
        auto on = open_run(logged(t / name, "all"));
        const RunSpace space = sectors_of(*on);
        REQUIRE(precondition(space, {.fill_percent = 20, .random_fills = 0}, 1, space.begin).has_value());
        const auto tally = run(*on, 500, 3);
        REQUIRE(on->close(tally.end).has_value());
    }
    const auto both = [&](const std::string& sql) {
        const auto first = number_in(t / "a.db", sql);
        CHECK(first == number_in(t / "b.db", sql));
        return first;
    };
    CHECK(both("SELECT count(*) FROM host_request") == 500);
    CHECK(both("SELECT count(*) FROM nand_op") > 500);
    CHECK(both("SELECT count(*) FROM run WHERE kind = 'replay'") == 1);
    CHECK(both("SELECT count(*) FROM sample") == 2);
    CHECK(both("SELECT sum((ts_ns + dur_ns) % 1000003) FROM host_request") != 0);
}

TEST_CASE("a run begins on a drive that has done what was due before: no row is older than it, and the first read waits for nothing",
          "[run-device]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    CAPTURE(scheme);
    TemporaryDirectory t;
    DeviceChoice choice;
    choice.ftl = scheme;
    choice.size_bytes = 512u << 20;
    choice.settings = {"nand.channels=4", "nand.chips_per_channel=2"};
    choice.events_file = t / "run.db";
    choice.log = "all";
    auto on = open_run(choice);
    const RunSpace space = sectors_of(*on);
    const auto ready = precondition(space, {.fill_percent = 50, .random_fills = 0}, 1, space.begin);
    REQUIRE(ready.has_value());
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    on->begin_log(*ready);
    const auto reads = [at = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        request = {0, at, 64u << 10, 0, TraceOp::read};
        at += request.bytes;
        return at <= 16 * request.bytes;
    };
    const auto tally = replay(space, reads, fit, {.depth = 1}, *ready);
    REQUIRE(tally.has_value());
    REQUIRE(on->close(tally->end).has_value());
    for (const char* table : {"nand_op", "gc_job", "pram_write", "host_request"})
        CHECK(number_in(t / "run.db", fmt::format("SELECT count(*) FROM {} WHERE ts_ns < (SELECT start_ns FROM run)", table)) == 0);
    CHECK(number_in(t / "run.db", "SELECT count(*) FROM host_request") == 16);
    if (scheme != "dftl") // whose first reads fetch their translation pages
        CHECK(number_in(t / "run.db", "SELECT max(dur_ns) FROM host_request") < 150'000);
    else
        CHECK(number_in(t / "run.db", "SELECT count(*) FROM nand_op WHERE op = 0 AND page_kind = 2 AND own_page IS NOT NULL AND lpn IS NULL") > 0);
    CHECK(number_in(t / "run.db", "SELECT count(*) FROM nand_op WHERE op = 0 AND page_kind = 1 AND lpn IS NOT NULL") == 256);
}

TEST_CASE("a replay's split requests are marked piece by piece in its log, and counted once", "[run-device]") {
    TemporaryDirectory t;
    auto on = open_run(logged(t / "run.db", "requests"));
    const RunSpace space = sectors_of(*on);
    AddressFit fit{FitPolicy::compact, space.bytes()};
    on->begin_log(space.begin);
    const std::vector<TraceRequest> load{
        {0, 100u << 20, 4096, 0, TraceOp::write}, {0, 7u << 20, 4096, 0, TraceOp::write}, {0, (100u << 20) - 4096, 12288, 0, TraceOp::write}};
    const auto next = [&load, i = std::size_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (i == load.size()) return false;
        request = load[i++];
        return true;
    };
    const auto tally = replay(space, next, fit, {.depth = 1}, space.begin);
    REQUIRE(tally.has_value());
    REQUIRE(on->close(tally->end).has_value());
    CHECK(tally->requests() == 3);
    CHECK(fit.split().requests == 1);
    CHECK(number_in(t / "run.db", "SELECT count(*) FROM host_request WHERE piece = 0") == 2);
    CHECK(number_in(t / "run.db", "SELECT count(*) FROM host_request WHERE piece > 0") == static_cast<std::int64_t>(fit.split().pieces));
    CHECK(number_in(t / "run.db", "SELECT requests FROM v_host_requests WHERE op = 'write'") == 3);
}

TEST_CASE("the views of a preconditioned run say what its report says, and nothing of what came before", "[run-device]") {
    TemporaryDirectory t;
    auto on = open_run(logged(t / "run.db", "summary"));
    const RunSpace space = sectors_of(*on);
    const auto ready = precondition(space, {.fill_percent = 90, .random_fills = 1}, 1, space.begin);
    REQUIRE(ready.has_value());
    on->begin_log(*ready);
    const auto before = RunSnapshot::of(on->device(), *ready);
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    const auto tally = replay(space, mixed_load(space.bytes(), 3000, 5), fit, {.depth = 4}, *ready);
    REQUIRE(tally.has_value());
    const Json report = report_run({"test", 1, 0}, on->device(), before, *tally);
    REQUIRE(on->close(tally->end).has_value());

    const auto logged = [&](const std::string& sql) { return static_cast<double>(number_in(t / "run.db", sql)); };
    CHECK(logged("SELECT start_ns FROM run") == static_cast<double>(ns_since_start(*ready)));
    CHECK(logged("SELECT host_write_bytes FROM v_run_totals") == report["host_write_bytes"].real());
    CHECK(logged("SELECT host_read_bytes FROM v_run_totals") == report["host_read_bytes"].real());
    CHECK(logged("SELECT sum(page_programs) FROM v_waf_by_cause") == report["nand_program_pages"].real());
    CHECK(logged("SELECT round(1e3 * sum(waf)) FROM v_waf_by_cause") == Approx(1e3 * report["waf"].real()).margin(1));
    CHECK(logged("SELECT round(1e3 * sum(programmed_bytes) / sum(host_write_bytes)) FROM v_waf_over_time") ==
          Approx(1e3 * report["waf"].real()).margin(1));
    for (const char* part : {"waf_user", "waf_gc", "waf_merge", "waf_map"}) {
        CAPTURE(part);
        CHECK(logged(fmt::format("SELECT round(1e3 * {}) FROM v_waf", part)) == Approx(1e3 * report[part].real()).margin(1));
    }
    CHECK(report["waf_user"].real() + report["waf_gc"].real() + report["waf_merge"].real() + report["waf_map"].real() ==
          Approx(report["waf"].real()).epsilon(1e-9));
    CHECK(report["waf_gc"].real() > 0);
    CHECK(report["waf"].real() > 1.5); // where the fill, at 1.0, would be seen
    std::size_t channel = 0;
    for (const Json& busy : report["channel_utilisation"].items())
        CHECK(logged(fmt::format("SELECT round(1e6 * utilisation) FROM v_channel_util WHERE channel = {}", channel++)) ==
              Approx(1e6 * busy.real()).margin(1));
}

TEST_CASE("the log of a run on a drive counts from the run, after mount, recovery and preconditioning", "[run-device]") {
    TemporaryDirectory t;
    make(t / "d");
    cut(t / "d");
    DeviceChoice choice;
    choice.directory = t / "d";
    choice.log = "all";
    auto on = open_run(choice);
    const RunSpace space = sectors_of(*on);
    const auto ready = precondition(space, {.fill_percent = 30, .random_fills = 0}, 1, space.begin);
    REQUIRE(ready.has_value());
    on->begin_log(*ready);
    const auto before = RunSnapshot::of(on->device(), *ready);
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    const auto tally = replay(space, mixed_load(space.bytes(), 500, 5), fit, {.depth = 4}, *ready);
    REQUIRE(tally.has_value());
    const auto written = on->device().ssd().sample(tally->end).host_write_bytes - before.sample.host_write_bytes;
    REQUIRE(on->close(tally->end).has_value());

    const auto logged = [&](const std::string& sql) { return number_in(t / "d" / "events.db", sql); };
    const std::string last = fmt::format("(SELECT run FROM run WHERE start_ns = {})", ns_since_start(*ready));
    CHECK(logged("SELECT host_write_bytes FROM v_run_totals WHERE run = " + last) >= static_cast<std::int64_t>(written));
    CHECK(logged("SELECT host_write_bytes FROM v_run_totals WHERE run = " + last) ==
          logged("SELECT sum(sectors) * 512 FROM host_request WHERE op = 1"));
    for (const char* of : {"page_reads", "page_programs"})
        CHECK(logged(fmt::format("SELECT sum({}) FROM sample_nand JOIN v_run_totals USING(sample) WHERE run = {}", of, last)) ==
              logged(fmt::format("SELECT sum(pages) FROM nand_op WHERE op = {}", of == std::string_view{"page_reads"} ? 0 : 1)));
    CHECK(logged("SELECT count(*) FROM power JOIN power_kind_name USING(kind) WHERE name = 'recovery'") == 1);
}

TEST_CASE("a log without a file, an unknown level, and options that a drive already has are wrong usage", "[run-device]") {
    DeviceChoice no_file;
    no_file.log = "all";
    DeviceChoice no_level;
    no_level.events_file = "/nowhere/x.db";
    no_level.log = "everything";
    DeviceChoice twice;
    twice.directory = "/nowhere";
    twice.ftl = "dftl";
    for (const DeviceChoice& choice : {no_file, no_level, twice}) {
        const auto on = RunDevice::open(choice, {.kind = "replay", .default_bytes = 64u << 20});
        REQUIRE_FALSE(on.has_value());
        CHECK(on.error().code == exit_usage);
    }
}
