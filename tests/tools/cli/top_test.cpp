// What top, the progress line and Prometheus make of numbers: no terminal and no mount is needed for that.
#include "tests/support/catch.h"

#include "tools/cli/commands/top_screen.h"
#include "tools/cli/progress.h"
#include "tools/drive/prometheus_text.h"
#include "tools/live/mount_sample.h"

using namespace flashlab;

namespace {

Json stats(std::uint64_t clock_ns, std::uint64_t write_bytes, std::uint64_t programs) {
    const auto parsed = Json::parse(fmt::format(
        R"({{"clock_ns":{},"host_reads":0,"host_writes":{},"host_trims":0,"host_flushes":0,"host_read_bytes":0,"host_write_bytes":{},"page_bytes":4096,
            "nand":{{"user":{{"page_reads":0,"page_programs":{},"block_erases":0}}}},"waf":1,"waiting_answers":3,"free_blocks":7,
            "channel_busy_ns":[{},0],"operations":[{{"op":"write","calls":5,"errors":0,"p50_us":1,"p99_us":20000,"max_us":3e6}}]}})",
        clock_ns, write_bytes / 4096, write_bytes, programs, clock_ns / 2));
    return parsed.value();
}

Json many_blocks() {
    Json cells{Json::Array{}}, wear{Json::Array{}};
    for (int i = 0; i < 2048; ++i)
        cells.push(Json::object({{"free_percent", i % 3 == 0 ? 100.0 : 0.0}, {"valid_percent", i % 101}, {"erases_mean", 1.0}}));
    for (int i = 0; i < 200; ++i) wear.push(Json::object({{"erases", i}, {"blocks", 10}}));
    return Json::object({{"blocks", std::uint64_t{2048}}, {"cells", std::move(cells)}, {"wear", std::move(wear)}});
}

} // namespace

TEST_CASE("a sample is the difference of two looks, and what did not happen has no write amplification", "[top]") {
    const Json sample = mount_sample(stats(1'000'000, 4096, 1), stats(3'000'000, 4096 + 8'192'000, 1 + 4000), 2);
    CHECK(sample["write_iops"].real() == 1000);
    CHECK(sample["write_mb_s"].real() == Approx(4.096));
    CHECK(sample["waf"].real() == 2);
    CHECK(sample["channel_busy"].items()[0].real() == 0.5);
    CHECK(sample["queue"].number() == 3);
    CHECK(mount_sample(stats(1, 4096, 1), stats(1, 4096, 1), 0)["waf"].is_null());
}

TEST_CASE("top shows chips that work while the buses idle", "[top]") {
    const auto at = [](std::uint64_t clock_ns, std::uint64_t planes_busy_ns) {
        const Json all = stats(clock_ns, 0, 0);
        Json of;
        for (const auto& [key, value] : all.members()) of.add(key, key == "channel_busy_ns" ? *Json::parse("[7,7]") : value); // the buses stand still
        of.add("planes_busy_ns", planes_busy_ns);
        return of;
    };
    const Json sample = mount_sample(at(1'000'000, 100'000), at(3'000'000, 1'900'000), 1);
    CHECK(sample["planes_busy"].real() == 0.9);
    CHECK(mount_sample(at(5, 0), at(5, 0), 1)["planes_busy"].real() == 0); // no time went by
    std::string chips, buses;
    for (const std::string& line : top_lines({"flashlab top", "/mnt", "mount", ""}, {}, sample, many_blocks(), 80, 24)) {
        if (line.starts_with("busy")) chips = line;
        if (line.starts_with("ch0")) buses = line;
    }
    CHECK_THAT(chips, ContainsSubstring("chips ##################.. 90%"));
    CHECK_THAT(buses, ContainsSubstring("........   0%") && !ContainsSubstring("#"));
}

TEST_CASE("the screen of top fits every size from 20 x 5 on, and 80 x 24 shows all of its parts", "[top]") {
    Json busy{Json::Array{}}, sample;
    for (int c = 0; c < 64; ++c) busy.push(c / 64.0);
    const Json measured = mount_sample(stats(1'000'000, 4096, 1), stats(3'000'000, 8192, 9), 1);
    for (const auto& [key, value] : measured.members()) sample.add(key, key == "channel_busy" ? busy : value);
    sample.add("dram_bytes", std::uint64_t{1000});
    sample.add("dram_map_bytes", std::uint64_t{400});
    sample.add("write_buffer_pages", std::uint64_t{5});
    const Json about = Json::object({{"ftl", "hftl"}, {"preset", "modern-tlc"}, {"device_bytes", std::uint64_t{1} << 40}});
    for (const std::size_t columns : {20u, 79u, 80u, 81u, 200u, 400u})
        for (const std::size_t rows : {5u, 24u, 25u, 100u}) {
            const auto lines = top_lines({"flashlab top (q quits)", "/a/mount/point", "mount", ""}, about, sample, many_blocks(), columns, rows);
            CHECK(lines.size() <= rows);
            for (const std::string& line : lines) CHECK(line.size() <= columns);
        }
    const TopText of_mount{"flashlab top (q quits)", "/mnt", "mount", ""};
    std::string all;
    for (const std::string& line : top_lines(of_mount, about, sample, many_blocks(), 80, 24)) all += line + "\n";
    for (const char* part : {"q quits", "IOPS", "queue 3\n", "since the mount:", "the map", "p99", "since the mount\n", "ch3", "buffer", "DRAM",
                             "free", "wear", "blocks"})
        CHECK_THAT(all, ContainsSubstring(part));
    const TopText of_run{"flashlab replay (q leaves)", "", "run", "5 of 9 requests"};
    const auto lines = top_lines(of_run, about, sample, many_blocks(), 80, 24);
    CHECK(lines[0].ends_with(" s")); // no place, no comma
    CHECK(lines[1] == "5 of 9 requests");
    CHECK_THAT(lines[3], ContainsSubstring("since the run:"));
}

TEST_CASE("an estimate needs a total, and says hours, minutes or seconds", "[top]") {
    CHECK(Progress::line(500, 0, "states", 10) == "500 states, 50/s");
    CHECK(Progress::line(500, 1000, "states", 10) == "500 of 1000 states, 50/s, about 10 s left");
    CHECK(Progress::line(1, 1000, "states", 1) == "1 of 1000 states, 1/s, about 17 min left");
    CHECK(Progress::line(1, 100'000, "states", 1) == "1 of 100000 states, 1/s, about 27 h 46 min left");
    CHECK(Progress::line(0, 10, "cuts", 5) == "0 of 10 cuts, 0/s");
    CHECK(Progress::line(20, 10, "cuts", 5) == "20 of 10 cuts, 4/s"); // a total that was too small promises nothing
}

TEST_CASE("a device's name cannot break a line of Prometheus", "[top]") {
    const std::string text = prometheus_text(stats(1, 4096, 1), Json::object({{"media_errors", std::uint64_t{2}}}), "a\"b\\c\nd");
    CHECK_THAT(text, ContainsSubstring(R"(flashlab_host_written_bytes_total{device="a\"b\\c\nd"} 4096)"));
    CHECK_THAT(text, ContainsSubstring(R"(flashlab_smart_media_errors_total{device="a\"b\\c\nd"} 2)"));
}
