/// From fio's results to a preset: what is read of them; and that a drive's own measurements give back its parameters.
#include <algorithm>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tools/drive/config_file.h"
#include "tools/fit/fit.h"

using namespace flashlab;

namespace {

/// Small, so that a run takes moments: what does not fit a drive of so few blocks is left out.
FitSettings small_drive() { return {"micron-7450-max", {{"nand.blocks_per_plane", "48"}, {"dram.write_buffer_bytes", "4M"}}}; }

FitStream stream(std::string name, TimedStream load) {
    FitStream out;
    static_cast<TimedStream&>(out) = load;
    out.name = std::move(name);
    return out;
}
FitPoint one(FitStream of) { return {"drive.json", {std::move(of)}}; }

std::vector<FitPoint> loads() {
    return {one(stream("answers", {.depth = 1})),
            one(stream("reads", {.depth = 1, .read_percent = 100})),
            one(stream("some reads", {.depth = 16, .read_percent = 100})),
            one(stream("deep reads", {.depth = 256, .read_percent = 100})),
            one(stream("large reads", {.block_bytes = 131072, .depth = 1, .read_percent = 100})),
            one(stream("in order", {.block_bytes = 131072, .depth = 32, .in_order = true}))};
}

std::vector<FitPoint> measured_by(const FitSettings& drive, const std::vector<FitPoint>& asked) {
    std::vector<FitPoint> out;
    for (const FitPoint& point : asked) {
        auto made = measure_point(drive, point, 5);
        if (!made) FAIL(made.error());
        for (FitStream& measured : made->streams) measured.waf = 0;
        out.push_back(std::move(*made));
    }
    return out;
}

constexpr const char* results = R"(fio: a warning
{"fio version": "fio-3.33", "global options": {"iodepth": "8", "bs": "4k"},
 "jobs": [
  {"jobname": "w", "job options": {"rw": "randwrite", "numjobs": "2"},
   "write": {"total_ios": 100, "iops": 1000.5, "clat_ns": {"percentile": {"1.000000": 5, "50.000000": 10000, "99.000000": 20000}}}},
  {"jobname": "w", "job options": {"rw": "randwrite", "numjobs": "2"},
   "write": {"total_ios": 300, "iops": 3000, "clat_ns": {"percentile": {"50.000000": 30000, "99.000000": 40000}}}},
  {"jobname": "r", "job options": {"rw": "randread", "iodepth": "1", "rate_iops": "500,", "rate_process": "poisson"},
   "read": {"total_ios": 10, "iops": 499, "lat_ns": {"percentile": {"50.000000": 70000}}}},
  {"jobname": "s", "groupid": 1, "job options": {"rw": "write", "bs": "1M"}, "write": {"total_ios": 9, "iops": 12}}
 ]})";

} // namespace

TEST_CASE("jobs of fio that run together are streams of one point, its processes one stream", "[fit]") {
    const auto points = parse_fio_results(results, "f.json");
    REQUIRE(points);
    REQUIRE(points->size() == 2);
    REQUIRE((*points)[0].streams.size() == 2);
    const FitStream& w = (*points)[0].streams[0];
    CHECK(w.depth == 16);
    CHECK(w.read_percent == 0);
    CHECK_FALSE(w.in_order);
    CHECK(w.write.iops == 4000.5);
    CHECK(w.write.p50_us == 25);
    CHECK(w.write.p99_us == 35);
    CHECK(w.read.iops == 0);
    const FitStream& r = (*points)[0].streams[1];
    CHECK(r.depth == 1);
    CHECK(r.planned_iops[0] == 500);
    CHECK(r.planned_iops[1] == 0);
    CHECK(r.is_poisson);
    CHECK(r.read.p50_us == 70);
    CHECK(r.read.p99_us == 0);
    const FitStream& s = (*points)[1].streams[0];
    CHECK(s.in_order);
    CHECK(s.block_bytes == 1u << 20);
    CHECK(s.depth == 8);
}

TEST_CASE("results that cannot be read are refused with the file and what is wrong", "[fit]") {
    CHECK_THAT(parse_fio_results("no json", "f.json").error(), ContainsSubstring("f.json: no JSON of fio (--output-format=json)"));
    CHECK_THAT(parse_fio_results("{}", "f.json").error(), ContainsSubstring("f.json: no jobs in it"));
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"rw": "randtrim"}}]})", "f.json").error(),
               ContainsSubstring("f.json: job t: rw=randtrim"));
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"bs": "1000"}}]})", "f.json").error(),
               ContainsSubstring("f.json: job t: bs=1000"));
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"bs": "4kk"}}]})", "f.json").error(),
               ContainsSubstring("f.json: job t: bs=4kk: is not understood"));
    CHECK(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"bs": "0x20000"}}]})", "f.json")->front().streams[0].block_bytes == 131072);
    CHECK(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"bs": "128Ki"}}]})", "f.json")->front().streams[0].block_bytes == 131072);
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"rw": "randrw", "bs": "4k,64k"}}]})", "f.json").error(),
               ContainsSubstring("f.json: job t: bs=4k,64k: sizes of reads and writes differ"));
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "t", "job options": {"rw": "randrw", "rwmixread": "half"}}]})", "f.json").error(),
               ContainsSubstring("f.json: job t: rwmixread=half: is not understood"));
    const auto own = parse_fio_results(
        R"({"global options": {"rwmixread": "70"}, "jobs": [{"jobname": "t", "job options": {"rw": "randrw", "rwmixwrite": "90"}}]})", "f.json");
    REQUIRE(own);
    CHECK(own->front().streams[0].read_percent == 10);
    CHECK_THAT(read_fio_results("/no/such/file").error(), ContainsSubstring("/no/such/file: "));
}

TEST_CASE("what fio prints around its results, and other forms of them, are read", "[fit]") {
    const auto stream = [](std::string_view options, std::string_view more = "") {
        const auto points = parse_fio_results(fmt::format(R"({{"jobs": [{{"jobname": "j", "job options": {{{}}}{}}}]}})", options, more), "f.json");
        if (!points) FAIL(points.error());
        return (*points)[0].streams[0];
    };
    CHECK(stream(R"("rw": "randread", "iodepth": "32", "numjobs": "2", "ioengine": "psync")").depth == 2); // one at a time, whatever iodepth says
    CHECK(stream(R"("rw": "randread", "iodepth": "32", "numjobs": "2", "ioengine": "libaio")").depth == 64);
    CHECK(stream(R"("rw": "randrw", "rwmixwrite": "30")").read_percent == 70);
    CHECK(stream(R"("rw": "randrw", "rwmixread": "30", "rwmixwrite": "90")").read_percent == 10);
    CHECK(stream(R"("rw": "randread", "iodepth": "32", "ioengine": "pvsync2")").depth == 1);
    CHECK(stream(R"("rw": "randwrite", "bs": "4k,64k")").block_bytes == 65536);
    CHECK(stream(R"("rw": "randread", "bs": "4k,64k")").block_bytes == 4096);
    CHECK(stream(R"("rw": "write", "bs": "8k,")").block_bytes == 4096); // fio's own
    CHECK(stream(R"("rw": "randread", "bs": "4kb")").block_bytes == 4096);
    CHECK(stream(R"("rw": "randread", "bs": "512kib")").block_bytes == 512000); // of the old scripts
    CHECK(stream(R"("rw": "randwrite", "rate": "4mb")").planned_iops[1] == 1024);
    CHECK(stream(R"("rw": "read")", R"(, "read": {"total_ios": 9, "iops": 3, "clat": {"percentile": {"50.000000": 80}}})").read.p50_us ==
          80); // fio 2
    CHECK(stream(R"("rw": "read")", R"(, "read": {"total_ios": 9, "iops": 3, "clat_ns": {"min": 1, "max": 2}})").read.p50_us == 0);
    CHECK(stream(R"("rw": "read")", R"(, "read": {"total_ios": 0, "iops": 0, "clat_ns": {"percentile": {"50.000000": 0}}})").read.iops == 0);
    const std::string two = "note: {both engines}\n{\n \"jobs\": [{\"jobname\": \"a\"}, {\"jobname\": \"a\", \"groupid\": 1}]\n}\na: (groupid=0)\n";
    const auto points = parse_fio_results(two, "f.json");
    REQUIRE(points);
    CHECK(points->size() == 2); // of the same name, one after the other
    const auto client = parse_fio_results(R"({"client_stats": [{"jobname": "a"}, {"jobname": "All clients"}]})", "f.json");
    REQUIRE(client);
    CHECK(client->size() == 1);
}

TEST_CASE("jobs whose load the fit cannot give, or that failed, are refused by name", "[fit]") {
    for (const char* option : {"bssplit", "bsrange", "random_distribution", "thinktime"}) {
        const auto points = parse_fio_results(fmt::format(R"({{"jobs": [{{"jobname": "j", "job options": {{"{}": "9k"}}}}]}})", option), "f.json");
        REQUIRE_FALSE(points);
        CHECK_THAT(points.error(), ContainsSubstring(fmt::format("f.json: job j: {}=9k", option)));
    }
    CHECK(parse_fio_results(R"({"jobs": [{"jobname": "j", "job options": {"random_distribution": "random"}}]})", "f.json"));
    CHECK_THAT(parse_fio_results(R"({"jobs": [{"jobname": "j", "error": 5}]})", "f.json").error(), ContainsSubstring("job j: it failed: error 5"));
}

TEST_CASE("results that no drive has are refused with the file, the job and the key", "[fit]") {
    const auto with = [](std::string_view direction) {
        return parse_fio_results(fmt::format(R"({{"jobs": [{{"jobname": "t", "job options": {{"rw": "randread"}}, "read": {{{}}}}}]}})", direction),
                                 "f.json");
    };
    CHECK(with(R"("total_ios": 5, "iops": 4e6)"));
    for (const auto& [text, said] : {std::pair{R"("total_ios": 5, "iops": 1e308)", "f.json: job t: read.iops = 1e+308: no drive does that"},
                                     {R"("total_ios": 5, "iops": -1)", "read.iops = -1"},
                                     {R"("total_ios": 1e300, "iops": 5)", "read.total_ios = 1e+300"},
                                     {R"("total_ios": 5, "iops": 5, "clat_ns": {"percentile": {"50.000000": 1e300}})", "read.percentile.50 = 1e+300"},
                                     {R"("total_ios": 5, "iops": 5, "lat_ns": {"percentile": {"99.000000": -1}})", "read.percentile.99 = -1"}})
        CHECK_THAT(with(text).error(), ContainsSubstring(said));
}

TEST_CASE("a drive's own measurements give back its parameters", "[fit]") {
    FitSettings drive = small_drive();
    const std::map<std::string, double> truth{
        {"host_link.firmware_latency_ns", 14'000},  {"nand.page_read_ns", 38'000},    {"nand.bus_ps_per_byte", 1'500}, {"nand.chips_per_channel", 1},
        {"host_link.controller_request_ns", 2'600}, {"nand.page_program_ns", 900'000}};
    for (const auto& [key, value] : truth) drive.keys[key] = std::to_string(static_cast<long>(value));
    const auto points = measured_by(drive, loads());
    const auto fit = fit_drive(points, small_drive(), 1);
    if (!fit) FAIL(fit.error());
    for (const FittedKey& key : fit->keys) {
        CAPTURE(key.key, key.fitted);
        if (!truth.contains(key.key)) {
            CHECK(key.by.empty());
            CHECK(key.fitted == key.base);
            CHECK_THAT(key.unidentified_since, ContainsSubstring("no "));
            continue;
        }
        CHECK(std::abs(key.fitted / truth.at(key.key) - 1) < 0.05); // a percentile of 1/128, and another seed
    }
    std::size_t fitted = 0, predicted = 0;
    for (const FitRow& row : fit->rows) {
        CAPTURE(row.job, row.is_read, name_of(row.metric), row.measured, row.model);
        CHECK(std::abs(row.model / row.measured - 1) < 0.06);
        ++(row.fitted_key.empty() ? predicted : fitted);
    }
    CHECK(fitted == truth.size());
    CHECK(unmet_by(*fit).empty());
    CHECK(predicted == 3 * loads().size() - truth.size());
    // What is written is read as a drive.
    DeviceConfig config;
    const auto taken = apply_toml(config, preset_toml(*fit), "mine.toml");
    if (!taken) FAIL(taken.error());
    CHECK(config.ssd.nand.geometry.chips_per_channel == 1);
}

TEST_CASE("a parameter that moves nothing of what was measured is named, and keeps its value", "[fit]") {
    FitPoint beside = one(stream("a few writes", {.depth = 1, .planned_iops = {0, 20}}));
    beside.streams.push_back(stream("reads", {.depth = 1, .read_percent = 100}));
    beside.streams.back().read.p50_us = 500;
    const auto fit = fit_drive({beside}, small_drive(), 1);
    REQUIRE(fit);
    const FittedKey& suspend = fit->keys.back();
    REQUIRE(suspend.key == "nand.suspend_ns");
    CHECK(suspend.by.empty());
    CHECK(suspend.fitted == suspend.base);
    CHECK_THAT(suspend.unidentified_since, ContainsSubstring("it does not move p50, us of reads in drive.json"));
    for (const FitRow& row : fit->rows) CHECK(row.fitted_key.empty());
}

TEST_CASE("where something else bounds a load, its parameter keeps the base's value or gets the edge of what does", "[fit]") {
    FitSettings drive = small_drive();
    drive.keys["host_link.ps_per_byte"] = "2000"; // 0.5 GB/s, which the chips outdo
    drive.keys["nand.page_program_ns"] = "300000";
    FitSettings base = drive;
    const auto points = measured_by(drive, {one(stream("in order", {.block_bytes = 131072, .depth = 32, .in_order = true}))});
    const auto program = [&](std::string of_base) {
        base.keys["nand.page_program_ns"] = std::move(of_base);
        const auto fit = fit_drive(points, base, 1);
        if (!fit) FAIL(fit.error());
        return *std::ranges::find(fit->keys, "nand.page_program_ns", &FittedKey::key);
    };
    const FittedKey fast = program("400000");
    CHECK(fast.by.empty());
    CHECK(fast.fitted == 400'000);
    CHECK_THAT(fast.unidentified_since, ContainsSubstring("does not move requests a second of in order"));
    const FittedKey slow = program("20000000");
    CHECK(slow.beyond == "or less");
    CHECK(slow.fitted > 1'000'000);
    CHECK(slow.fitted < 19'000'000);
}

TEST_CASE("jobs that identify no parameter are refused, and a value beyond its range stays at its end", "[fit]") {
    FitStream idle = stream("mix", {.depth = 4, .read_percent = 100});
    idle.read.iops = 1000;
    CHECK_THAT(fit_drive({one(idle)}, small_drive(), 1).error(), ContainsSubstring("identifies"));
    FitStream slow = stream("answers", {.depth = 1});
    slow.write.p50_us = 5000;
    const auto fit = fit_drive({one(slow)}, small_drive(), 1);
    REQUIRE(fit);
    CHECK(fit->keys.front().fitted == 200'000);
    CHECK(fit->keys.front().is_at_end);
    CHECK(fit->rows.front().model < 1000);
    const auto unmet = unmet_by(*fit);
    REQUIRE(unmet.size() == 1);
    CHECK_THAT(unmet.front(), ContainsSubstring("no host_link.firmware_latency_ns gives p50, us of answers: 5000 was measured"));
}

namespace {

/// A log of fio with a line every `step_ms`: so many at each speed, in MB/s.
std::string log_of(const std::vector<std::pair<int, int>>& phases, int first_ms = 1000, int step_ms = 1000) {
    std::string text;
    int ms = first_ms;
    for (const auto& [lines, speed] : phases)
        for (int i = 0; i < lines; ++i, ms += step_ms) text += fmt::format("{}, {}, 1, 131072, 0\n", ms, speed * 1'000'000LL / 1024);
    return text;
}

FillPhases phases(const std::vector<LogText>& logs) {
    const auto steps = parse_bandwidth_logs(logs);
    if (!steps) FAIL(steps.error());
    return phases_of(*steps);
}

} // namespace

TEST_CASE("a fill's log has its cliff where the speed falls first, counted in bytes", "[fit]") {
    const FillPhases cliff = phases({{"f.log", log_of({{20, 4000}, {80, 1000}})}}); // half of the bytes in a fifth of the time
    CHECK(cliff.cache_share == Approx(0.5).margin(0.006));
    CHECK(cliff.first == Approx(4e9).epsilon(0.02));
    CHECK(cliff.then == Approx(1e9).epsilon(0.02));
    CHECK(cliff.mean == Approx(1.6e9).epsilon(0.01));
    const FillPhases three = phases({{"f.log", log_of({{10, 4000}, {30, 2000}, {80, 500}})}});
    CHECK(three.cache_share == Approx(40.0 / 140).margin(0.01));
    CHECK(three.then == Approx(2e9).epsilon(0.05));
    const FillPhases two_processes = phases({{"a.log", log_of({{20, 2000}, {80, 500}})}, {"b.log", log_of({{20, 2000}, {80, 500}}, 990)}});
    CHECK(two_processes.cache_share == Approx(0.5).margin(0.006));
    CHECK(two_processes.mean == Approx(1.6e9).epsilon(0.02));
    CHECK(phases({{"f.log", log_of({{20, 4000}, {80, 1000}}, 10, 10)}}).cache_share == Approx(0.5).margin(0.006)); // a line every 10 ms
    const FillPhases even = phases({{"f.log", log_of({{50, 1000}, {50, 900}})}});
    CHECK(even.cache_share == 1);
    CHECK(even.then == 0);
}

TEST_CASE("a log that is none of fio's is refused with file, line and column", "[fit]") {
    const auto why = [](const std::string& text) {
        const auto steps = parse_bandwidth_logs({{"f.log", text}});
        return steps ? "it was read" : steps.error();
    };
    CHECK_THAT(why("1000, 5, 1\n2000, five, 1\n"), ContainsSubstring("f.log, line 2, column 7: a time in ms"));
    CHECK_THAT(why("1000, 5\n"), ContainsSubstring("f.log, line 1, column 8"));
    CHECK_THAT(why("2000, 5, 1\n1000, 5, 1\n"), ContainsSubstring("line 2, column 1: its time lies before"));
    CHECK_THAT(why(log_of({{9, 100}})), ContainsSubstring("9 times with writes"));
    CHECK_THAT(why(""), ContainsSubstring("0 times with writes"));
    CHECK_THAT(read_bandwidth_logs({"/no/such/file"}).error(), ContainsSubstring("/no/such/file: "));
}

TEST_CASE("a drive's own fill gives back the size of its cache and the times of its cells", "[fit]") {
    const FitSettings base{"samsung-980pro-1t",
                           {{"nand.blocks_per_plane", "120"}, {"nand.pages_per_block", "48"}, {"dram.write_buffer_bytes", "1M"}}};
    FitSettings drive = base;
    drive.keys["ftl.slc_dynamic_permille"] = "500";
    drive.keys["nand.page_program_ns"] = "1400000";
    FitPoint point = one(stream("fill", {.block_bytes = 131072, .depth = 1, .in_order = true}));
    point.streams[0].fill = FillPhases{};
    const auto points = measured_by(drive, {point});
    const FillPhases& seen = *points[0].streams[0].fill;
    CAPTURE(seen.cache_share, seen.first, seen.then, seen.mean);
    CHECK(seen.cache_share < 0.5);
    const auto fit = fit_drive(points, base, 1);
    if (!fit) FAIL(fit.error());
    const auto value = [&](std::string_view key) { return std::ranges::find(fit->keys, key, &FittedKey::key)->fitted; };
    CHECK(value("ftl.slc_dynamic_permille") == Approx(500).epsilon(0.05));
    CHECK(value("nand.page_program_ns") == Approx(1'400'000).epsilon(0.05));
    for (const FitRow& row : fit->rows) {
        CAPTURE(name_of(row.metric), row.measured, row.model);
        CHECK(std::abs(row.model / row.measured - 1) < 0.05);
    }
    const auto without = fit_drive(points, small_drive(), 1); // its base has no such cache
    REQUIRE(without);
    CHECK_THAT(std::ranges::find(without->keys, "ftl.slc_dynamic_permille", &FittedKey::key)->unidentified_since, ContainsSubstring("--base"));
}
