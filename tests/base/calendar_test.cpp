// Goal: earliest gaps, no overlap, bounded cost. Method: a naive calendar that marks every nanosecond, beside the real one.
#include <vector>

#include "base/calendar.h"
#include "base/contract.h"
#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

SimTime at(std::int64_t ns) { return sim_time_from_ns(ns); }

/// One flag a nanosecond.
class NaiveCalendar {
public:
    [[nodiscard]] std::int64_t earliest(std::int64_t from, std::int64_t length) const {
        for (std::int64_t start = from;; ++start) {
            bool fits = true;
            for (std::int64_t t = start; fits && t < start + length; ++t) fits = !is_busy(t);
            if (fits) return start;
        }
    }
    void take(std::int64_t start, std::int64_t length) {
        if (busy_.size() < static_cast<std::size_t>(start + length)) busy_.resize(static_cast<std::size_t>(start + length));
        for (std::int64_t t = start; t < start + length; ++t) busy_[static_cast<std::size_t>(t)] = true;
    }
    [[nodiscard]] bool is_busy(std::int64_t t) const { return static_cast<std::size_t>(t) < busy_.size() && busy_[static_cast<std::size_t>(t)]; }

private:
    std::vector<bool> busy_;
};

} // namespace

TEST_CASE("a late arrival takes the earliest gap that fits", "[base]") {
    Calendar calendar;
    calendar.take(at(100), Duration{50});
    calendar.take(at(200), Duration{50});
    CHECK(calendar.reserve(at(0), Duration{100}).start == at(0));
    CHECK(calendar.reserve(at(0), Duration{50}).start == at(150));
    CHECK(calendar.reserve(at(0), Duration{1}).start == at(250));
    CHECK(calendar.busy() == Duration{251});
    CHECK(calendar.free_at() == at(251));
}

TEST_CASE("taking what is reserved breaks a contract, one nanosecond beside it does not", "[base]") {
    Calendar calendar;
    calendar.take(at(100), Duration{50});
    CHECK_THROWS_AS(calendar.take(at(149), Duration{1}), ContractViolation);
    CHECK_THROWS_AS(calendar.take(at(99), Duration{2}), ContractViolation);
    CHECK_THROWS_AS(calendar.take(at(50), Duration{200}), ContractViolation);
    CHECK_NOTHROW(calendar.take(at(150), Duration{1}));
    CHECK_NOTHROW(calendar.take(at(99), Duration{1}));
}

TEST_CASE("a calendar agrees with one that marks every nanosecond", "[base]") {
    const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
    CAPTURE(seed);
    Random random{seed};
    Calendar calendar;
    NaiveCalendar naive;
    std::int64_t now = 0;
    for (int i = 0; i < 60; ++i) { // fewer than max_live: nothing is forgotten
        const auto from = now + static_cast<std::int64_t>(random.below(300));
        const auto length = 1 + static_cast<std::int64_t>(random.below(40));
        const auto expected = naive.earliest(from, length);
        REQUIRE(calendar.earliest(at(from), Duration{length}) == at(expected));
        naive.take(expected, length);
        REQUIRE(calendar.reserve(at(from), Duration{length}).start == at(expected));
        if (random.chance(1, 4)) {
            now += static_cast<std::int64_t>(random.below(20));
            calendar.settle(at(now));
        }
    }
}

TEST_CASE("gaps shorter than the shortest phase and gaps too far back are forgotten, never used twice", "[base]") {
    const std::uint64_t seed = GENERATE(11, 12, 13, 14);
    CAPTURE(seed);
    Random random{seed};
    Calendar calendar{Duration{10}};
    NaiveCalendar naive;
    for (int i = 0; i < 2000; ++i) {
        const auto from = static_cast<std::int64_t>(random.below(20'000));
        const auto length = 10 + static_cast<std::int64_t>(random.below(30));
        const Slot slot = calendar.reserve(at(from), Duration{length});
        REQUIRE(ns_since_start(slot.start) >= from);
        for (auto t = ns_since_start(slot.start); t < ns_since_start(slot.end); ++t) REQUIRE_FALSE(naive.is_busy(t));
        naive.take(ns_since_start(slot.start), length);
        calendar.settle(sim_start);
    }
}

TEST_CASE("a phase of no length fits anywhere and takes nothing", "[base]") {
    Calendar calendar;
    calendar.take(at(10), Duration{10});
    CHECK(calendar.earliest(at(15), Duration{0}) == at(15));
    CHECK_NOTHROW(calendar.take(at(15), Duration{0}));
    CHECK(calendar.busy() == Duration{10});
}
