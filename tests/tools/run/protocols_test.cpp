/// Protocols: what is reported are the means of the rounds that were steady, by the rule that is said; and nobody is steady before its time.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "tests/support/catch.h"
#include "tools/run/precondition.h"
#include "tools/run/protocols.h"
#include "tools/run/run_device.h"

using namespace flashlab;

namespace {

std::unique_ptr<RunDevice> small_drive() {
    DeviceChoice choice;
    choice.preset = "micron-7450-max";
    choice.settings = {"nand.blocks_per_plane=48", "dram.write_buffer_bytes=4M"};
    auto on = RunDevice::open(choice, {.kind = "bench"});
    if (!on) FAIL(on.error().text);
    return std::move(*on);
}

Json run_named(std::string_view name, Duration cell, std::uint64_t seed = 1) {
    const auto on = small_drive();
    const auto space = on->sectors();
    REQUIRE(space);
    auto result = run_protocol(name, *space, cell, seed);
    if (!result) FAIL(result.error());
    return std::move(*result);
}

/// The values of the rounds that count.
std::vector<double> counted(const Json& result) {
    std::vector<double> values;
    for (const Json& value : result["tracked"].items()) values.push_back(value.real());
    const std::uint64_t first = result["steady"]["first_round"].number(), last = result["steady"]["last_round"].number();
    REQUIRE(last == values.size());
    REQUIRE(last - first == 4);
    return {values.begin() + static_cast<std::ptrdiff_t>(first - 1), values.end()};
}

} // namespace

TEST_CASE("a protocol is steady by SNIA's rule over its last five rounds, and reports their means", "[protocols]") {
    const Json result = run_named("snia-pts-wsat", Duration{20'000'000});
    const std::vector<double> values = counted(result);
    double mean = 0, slope = 0;
    for (const double value : values) mean += value / 5;
    for (int i = 0; i < 5; ++i) slope += (i - 2) * values[static_cast<std::size_t>(i)] / 10; // least squares over -2 to 2
    const auto [least, most] = std::ranges::minmax(values);
    const Json& steady = result["steady"];
    CHECK(steady["mean"].real() == Approx(mean));
    CHECK(steady["excursion"].real() == Approx((most - least) / mean));
    CHECK(steady["slope"].real() == Approx(std::abs(4 * slope) / mean));
    CHECK(steady["reached"].truth());
    CHECK(steady["why_not"].is_null());
    CHECK((most - least) / mean <= 0.2);
    CHECK(std::abs(4 * slope) / mean <= 0.1);
    CHECK(result["cells"].items().front()["iops"].real() == Approx(mean));
    CHECK(result["cells"].items().front()["waf"].real() > 1.2);
}

TEST_CASE("writes to an empty drive are steady at once, and do not count as such", "[protocols]") {
    const Json result = run_named("snia-pts-wsat", Duration{1'000'000});
    const auto& rounds = result["tracked"].items();
    REQUIRE(rounds.size() > 8); // a round takes a quarter of the drive, and twice the drive is the least
    CHECK(rounds[1].real() == Approx(rounds[2].real()).epsilon(0.05));
    CHECK(rounds.back().real() < 0.8 * rounds[1].real());
}

TEST_CASE("each round of random writes writes a quarter of the drive, however slow that has become, and the first is of the fresh drive",
          "[protocols]") {
    const Json result = run_named("snia-pts-wsat", Duration{1'000'000});
    double before = 0;
    for (const Json& round : result["by_round"].items()) {
        CHECK(round["drive_fills"].real() - before == Approx(0.25).epsilon(0.02));
        before = round["drive_fills"].real();
    }
    CHECK(result["by_round"].items().front()["waf"].items().front().real() < 1.01);
    CHECK(result["steady"]["overwritten"].real() == Approx(before));
    CHECK(result["cell_bytes"].number() * 4 == Approx(static_cast<double>(small_drive()->sectors()->bytes())).epsilon(0.001));
}

TEST_CASE("what write saturation calls steady is what a drive does that was overwritten long before", "[protocols]") {
    const auto on = small_drive();
    const auto space = on->sectors();
    REQUIRE(space);
    const auto ready = precondition(*space, *parse_precondition("fill:100,random:4x,written"), 5, space->begin);
    REQUIRE(ready);
    const auto real = run_for(*space, {{.depth = 128}}, Duration{0}, Duration{0}, *ready, 5, space->bytes() / 2);
    REQUIRE(real);
    CHECK(real->written_bytes >= space->bytes() / 2);
    for (const char* protocol : {"snia-pts-wsat", "ssdiq"}) {
        CAPTURE(protocol);
        const Json result = run_named(protocol, Duration{1'000'000});
        CHECK(result["steady"]["reached"].truth());
        CHECK(result["cells"].items().front()["waf"].real() == Approx(real->waf).epsilon(0.05));
        if (protocol == std::string_view{"snia-pts-wsat"}) CHECK(result["steady"]["mean"].real() == Approx(real->iops()).epsilon(0.08));
    }
}

TEST_CASE("the latency protocol has nine cells of one request in flight, mean before maximum", "[protocols]") {
    const Json result = run_named("snia-pts-latency", Duration{10'000'000});
    REQUIRE(result["cells"].items().size() == 9);
    for (const Json& cell : result["cells"].items()) {
        CHECK(cell["depth"].number() == 1);
        CHECK(cell["mean_us"].real() <= cell["five_nines_us"].real());
        CHECK(cell["five_nines_us"].real() <= cell["max_us"].real());
    }
    CHECK(result["steady"]["reached"].truth());
}

TEST_CASE("the table of requests a second has seven mixes of eight sizes, the same for the same seed", "[protocols]") {
    const Json result = run_named("snia-pts-iops", Duration{1'000'000}, 3);
    CHECK(result["cells"].items().size() == 56);
    CHECK(result.dump() == run_named("snia-pts-iops", Duration{1'000'000}, 3).dump());
}

TEST_CASE("each round has the value of every cell, and the cells are the means of those that count", "[protocols]") {
    const Json result = run_named("snia-pts-latency", Duration{10'000'000});
    const auto& rounds = result["by_round"].items();
    REQUIRE(rounds.size() == result["rounds"].number());
    for (std::size_t cell = 0; cell < 9; ++cell) {
        double mean = 0, largest = 0;
        for (const Json& round : std::span{rounds}.last(5)) {
            mean += round["mean_us"].items()[cell].real() / 5;
            largest = std::max(largest, round["max_us"].items()[cell].real());
        }
        CHECK(result["cells"].items()[cell]["mean_us"].real() == Approx(mean));
        CHECK(result["cells"].items()[cell]["max_us"].real() == largest);
    }
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        CHECK(rounds[i]["mean_us"].items()[7].real() == result["tracked"].items()[i].real()); // writes of 4 KiB
        if (i > 0) CHECK(rounds[i]["drive_fills"].real() > rounds[i - 1]["drive_fills"].real());
        CHECK(rounds[i]["seconds"].real() >= 9 * 0.01 * static_cast<double>(i + 1));
    }
}

TEST_CASE("beside shares of a drive's random writes a waiting thread's percentiles do not fall", "[protocols]") {
    const Json result = run_named("ssdiq", Duration{50'000'000});
    REQUIRE(result["beside"].items().size() == 5);
    const double rate = result["cells"].items().front()["iops"].real();
    CHECK(result["beside"].items()[2]["requests_a_second"].real() == Approx(rate / 2));
    CHECK(result["beside"].items()[4]["read_p99_us"].real() > result["beside"].items()[0]["read_p50_us"].real());
}

TEST_CASE("five nines are the latency that one request in a hundred thousand exceeds", "[protocols]") {
    LatencyRecorder latencies;
    for (int i = 0; i < 199'998; ++i) latencies.add(Duration{100});
    for (int i = 0; i < 2; ++i) latencies.add(Duration{1000});
    CHECK(latencies.five_nines_ns() == 100);
    latencies.add(Duration{1000});
    CHECK(latencies.five_nines_ns() == 1000);
    CHECK(latencies.max_ns() == 1000);
}
