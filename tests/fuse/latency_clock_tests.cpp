// Simulated time on a live mount. The wall's time is passed in: no test sleeps.
#include "fs/fuse/latency_clock.h"

#include "base/contract.h"
#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace std::chrono_literals;

namespace {

constexpr WallTime wall_zero{1000s};
constexpr SimTime start = sim_start + 5s;

} // namespace

TEST_CASE("at latency real the clock runs as fast as the wall", "[fuse]") {
    const LatencyClock clock{start, {.off = false, .rate = 1.0}, wall_zero};
    CHECK(clock.at(wall_zero) == start);
    CHECK(clock.at(wall_zero + 1ns) == start + 1ns);
    CHECK(clock.at(wall_zero + 24h * 365) == start + 24h * 365);
    CHECK(clock.wall_of(start + 700us) == wall_zero + 700us);
}

TEST_CASE("at latency Nx the clock runs N times as fast, and a completion is reached N times sooner", "[fuse]") {
    const LatencyClock clock{start, {.off = false, .rate = 10.0}, wall_zero};
    CHECK(clock.at(wall_zero + 1ms) == start + 10ms);
    CHECK(clock.wall_of(start + 10ms) == wall_zero + 1ms);
    const LatencyClock slow{start, {.off = false, .rate = 0.5}, wall_zero};
    CHECK(slow.at(wall_zero + 1ms) == start + 500us);
}

TEST_CASE("a wall time before the re-base leaves the clock where it is", "[fuse]") {
    const LatencyClock clock{start, {.off = true, .rate = 1.0}, wall_zero};
    CHECK(clock.at(wall_zero - 1s) == start);
}

TEST_CASE("changing the rate never makes the clock jump", "[fuse]") {
    LatencyClock clock{start, {.off = false, .rate = 4.0}, wall_zero};
    const SimTime before = clock.at(wall_zero + 3s);
    clock.set_mode({.off = false, .rate = 1.0}, wall_zero + 3s);
    CHECK(clock.at(wall_zero + 3s) == before);
    CHECK(clock.at(wall_zero + 4s) == before + 1s);
    clock.set_mode({.off = true, .rate = 1.0}, wall_zero + 4s);
    CHECK(clock.at(wall_zero + 4s) == before + 1s);
}

TEST_CASE("at latency off an answer takes the clock to its completion and the clock runs on from there", "[fuse]") {
    LatencyClock clock{start, {.off = true, .rate = 1.0}, wall_zero};
    clock.pass(start + 3ms, wall_zero + 10us);
    CHECK(clock.at(wall_zero + 10us) == start + 3ms);
    CHECK(clock.at(wall_zero + 15us) == start + 3ms + 5us);
    clock.pass(start + 1ms, wall_zero + 20us); // already passed: nothing moves
    CHECK(clock.at(wall_zero + 20us) == start + 3ms + 10us);
}

TEST_CASE("a clock that keeps simulated time may not be pushed", "[fuse]") {
    LatencyClock clock{start, {.off = false, .rate = 1.0}, wall_zero};
    CHECK_THROWS_AS(clock.pass(start + 1ms, wall_zero), ContractViolation);
    CHECK_THROWS_AS(clock.set_mode({.off = false, .rate = 0.0}, wall_zero), ContractViolation);
}

TEST_CASE("whatever happens to it, the clock never runs backwards", "[fuse]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    CAPTURE(seed);
    Random random{seed};
    LatencyClock clock{start, {.off = true, .rate = 1.0}, wall_zero};
    WallTime wall = wall_zero;
    SimTime last = start;
    for (int step = 0; step < 2000; ++step) {
        wall += std::chrono::nanoseconds{random.next() % 100'000};
        const std::uint64_t choice = random.next() % 8;
        if (choice == 0) clock.set_mode({.off = random.next() % 2 == 0, .rate = 0.25 * static_cast<double>(1 + random.next() % 64)}, wall);
        if (choice == 1 && clock.off()) clock.pass(last + Duration{static_cast<std::int64_t>(random.next() % 1'000'000)}, wall);
        const SimTime now = clock.at(wall);
        REQUIRE(now >= last);
        last = now;
        const auto error = clock.wall_of(now + 1ms) > wall ? clock.at(clock.wall_of(now + 1ms)) - (now + 1ms) : Duration{0};
        REQUIRE(error <= Duration{64}); // a wall nanosecond is `rate` simulated ones
        REQUIRE(error >= Duration{-64});
    }
}
