// When answers leave, on a simulated machine: callers, their thoughts and the ways through FUSE are numbers here; no clock is read.
#include "fs/fuse/lead_estimator.h"

#include <algorithm>
#include <vector>

#include "tests/support/catch.h"

using namespace flashlab;
using namespace std::chrono_literals;

namespace {

constexpr LeadClass small_read{.kind = LeadClass::Kind::read, .size = 0};
constexpr LeadClass small_write{.kind = LeadClass::Kind::write, .size = 0};
constexpr RoundTrips measured{.fastest = 6us, .usual = 25us, .copy_of_mib = 100us};

/// A caller with one request at a time. Each takes `device` of simulated time; the way there takes `there`, the way back `back`.
struct Caller {
    LeadEstimator& estimator;
    std::uint64_t name = 1;
    WallTime wall{};
    SimTime sim = sim_start;

    /// What the caller sees more than the device's time; negative: he sees the answer early.
    WallClock::duration call(LeadClass what, WallClock::duration there, WallClock::duration back, WallClock::duration thought,
                             Duration device = 66us) {
        const WallTime called = wall;
        const WallTime arrives = called + there;
        sim += 1ms;
        estimator.arrived(name, what, sim, arrives);
        const WallTime leaves = std::max(arrives, arrives + device - estimator.lead(what));
        estimator.left(sim, leaves);
        wall = leaves + back + thought;
        return leaves + back - called - device;
    }
};

} // namespace

TEST_CASE("a caller who goes on at once soon sees each answer in time, however slow the first measurement was", "[fuse]") {
    const auto way = GENERATE(2us, 5us, 11us);
    LeadEstimator estimator;
    estimator.begin(measured);
    Caller caller{estimator};
    for (int request = 0; request < 16; ++request)
        CHECK(caller.call(small_read, way, way, 1us) >= std::min<WallClock::duration>(-1us, 2 * way - measured.fastest));
    for (int request = 0; request < 100; ++request) {
        const auto off = caller.call(small_read, way, way, 1us);
        CHECK(off >= -1us);
        CHECK(off <= 1us);
    }
}

TEST_CASE("no answer is early by more than a microsecond where ways vary, and the usual one is in time", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    Caller caller{estimator};
    std::vector<WallClock::duration> seen;
    for (int request = 0; request < 1000; ++request) {
        const auto delay = request % 50 == 0 ? 12us : std::chrono::microseconds{request * 7 % 3 == 0 ? 1 : 0};
        const auto off = caller.call(small_read, 4us + delay, 4us, 1us);
        if (request >= 16) seen.push_back(off);
    }
    std::ranges::sort(seen);
    CHECK(seen.front() >= -1us);
    CHECK(seen[seen.size() / 2] <= 1us);
    CHECK(seen[seen.size() * 99 / 100] <= 15us);
}

TEST_CASE("a machine that becomes slower or faster is followed", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    Caller caller{estimator};
    for (const auto way : {4us, 10us, 3us}) {
        for (int request = 0; request < 40; ++request) static_cast<void>(caller.call(small_read, way, way, 1us));
        const auto off = caller.call(small_read, way, way, 1us);
        CHECK(off >= -1us);
        CHECK(off <= 1us);
    }
}

TEST_CASE("a caller who thinks for long does not make answers leave earlier than was measured at the start", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    Caller caller{estimator};
    for (int request = 0; request < 100; ++request) static_cast<void>(caller.call(small_read, 10us, 10us, 500us));
    CHECK(estimator.lead(small_read) <= measured.usual + 1us); // and the copy of 4 KiB
}

TEST_CASE("what is known of one kind or size says nothing of another", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    Caller caller{estimator};
    const LeadClass large = LeadClass::of(LeadClass::Kind::read, 128 * 1024);
    CHECK(large.size == 3);
    for (int request = 0; request < 100; ++request) {
        static_cast<void>(caller.call(small_read, 8us, 8us, 1us));
        static_cast<void>(caller.call(large, 20us, 20us, 1us)); // in turn: no two of a kind follow each other
    }
    CHECK(estimator.lead(small_read) == measured.fastest);
    CHECK(estimator.lead(large) == measured.fastest);
    CHECK(estimator.lead(small_write) == 2 * measured.fastest);
    for (int request = 0; request < 100; ++request) static_cast<void>(caller.call(large, 20us, 20us, 1us));
    CHECK(estimator.lead(large) == 40us);
    CHECK(estimator.lead(small_read) == measured.fastest);
}

TEST_CASE("answers of requests beside which others came say nothing, nor do those of two callers", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    WallTime wall{};
    SimTime sim = sim_start;
    for (int request = 0; request < 100; ++request) {
        const SimTime first = sim + 1us;
        const SimTime second = sim + 2us;
        estimator.arrived(1, small_read, first, wall);
        estimator.arrived(1, small_read, second, wall + 1us);
        estimator.left(first, wall + 66us); // the next request comes half a microsecond later, for another reason
        wall += 66us + 500ns;
        sim += 10us;
    }
    CHECK(estimator.lead(small_read) == measured.fastest);
    Caller one{estimator, 1}, two{estimator, 2, WallTime{} + 1h, sim_start + 1h};
    for (int request = 0; request < 100; ++request) {
        static_cast<void>(one.call(small_read, 1us, 1us, 1us));
        static_cast<void>(two.call(small_read, 1us, 1us, 1us));
    }
    CHECK(estimator.lead(small_read) == measured.fastest);
}

TEST_CASE("a new measurement begins anew", "[fuse]") {
    LeadEstimator estimator;
    CHECK(estimator.lead(small_read) == 0us);
    estimator.begin(measured);
    Caller caller{estimator};
    for (int request = 0; request < 100; ++request) static_cast<void>(caller.call(small_read, 10us, 10us, 1us));
    CHECK(estimator.lead(small_read) == 20us);
    estimator.begin({.fastest = 3us, .usual = 9us, .copy_of_mib = 0us});
    CHECK(estimator.lead(small_read) == 3us);
    for (int request = 0; request < 100; ++request) static_cast<void>(caller.call(small_read, 10us, 10us, 1us));
    CHECK(estimator.lead(small_read) == 9us);
}

TEST_CASE("a step begins earlier than an answer by what steps take, and one that waited for something counts little and not for ever", "[fuse]") {
    LeadEstimator estimator;
    estimator.begin(measured);
    const auto work = [&] { return estimator.step_lead(small_write) - estimator.lead(small_write); };
    CHECK(work() == 0us);
    for (int step = 0; step < 10; ++step) estimator.step_took(8us);
    CHECK(work() == 8us);
    estimator.step_took(20ms);
    CHECK(work() == 50us);
    for (int step = 0; step < 100; ++step) estimator.step_took(8us);
    CHECK(work() >= 8us);
    CHECK(work() < 9us);
    CHECK(estimator.lead(small_write) == 2 * measured.fastest); // answers wait for their time
    estimator.begin(measured);
    CHECK(work() == 0us);
}
