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
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
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
    const std::uint64_t seed = GENERATE(11u, 12u, 13u, 14u);
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

TEST_CASE("a phase that is to be apart begins no earlier than that long behind the reservation before it", "[base]") {
    const std::uint64_t seed = GENERATE(21u, 22u, 23u);
    CAPTURE(seed);
    Random random{seed};
    Calendar calendar;
    NaiveCalendar naive;
    for (int i = 0; i < 60; ++i) { // fewer than max_live: nothing is forgotten
        const auto apart = static_cast<std::int64_t>(random.below(15));
        const auto from = apart + static_cast<std::int64_t>(random.below(500));
        const auto length = 1 + static_cast<std::int64_t>(random.below(30));
        const auto expected = naive.earliest(from - apart, apart + length) + apart;
        REQUIRE(calendar.earliest(at(from), Duration{length}, Duration{apart}) == at(expected));
        naive.take(expected, length);
        calendar.take(at(expected), Duration{length});
    }
}

TEST_CASE("a phase in pieces takes what is free from its time on, none of them shorter than it may be", "[base]") {
    Calendar calendar{Duration{10}};
    CHECK(calendar.earliest_in_pieces(at(7), Duration{90}, Duration{20}).end == at(97)); // nothing precedes it
    calendar.take(at(0), Duration{100});
    calendar.take(at(150), Duration{50});
    calendar.take(at(215), Duration{85});
    const auto found = [&](std::int64_t from, std::int64_t length) {
        const Slot slot = calendar.earliest_in_pieces(at(from), Duration{length}, Duration{20});
        return std::pair{slot.start, slot.end};
    };
    CHECK(found(0, 40) == std::pair{at(100), at(140)});
    CHECK(found(0, 90) == std::pair{at(100), at(340)});   // 15 before 215 are too few
    CHECK(found(0, 55) == std::pair{at(100), at(320)});   // the rest would be 5: so the first piece is 35
    CHECK(found(135, 30) == std::pair{at(300), at(330)}); // what is free before 150 is too short
    CHECK(found(130, 30) == std::pair{at(300), at(330)}); // and two pieces of 20 are more than 30
    CHECK(found(0, 15) == std::pair{at(100), at(115)});   // the whole of it may be short
    const Slot taken = calendar.reserve_in_pieces(at(0), Duration{90}, Duration{20});
    CHECK((taken.start == at(100) && taken.end == at(340)));
    CHECK(calendar.busy() == Duration{100 + 50 + 85 + 90});
    CHECK(calendar.earliest(at(0), Duration{10}) == at(200));
    CHECK(calendar.earliest(at(0), Duration{16}) == at(340));
}

TEST_CASE("phases in pieces leave no time free in which one of them could have gone on, as a line of instants shows", "[base]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    CAPTURE(seed);
    Random random{seed};
    Calendar calendar{Duration{1}, 4096};
    std::vector<bool> busy(8000);
    for (int i = 0; i < 120; ++i) {
        const auto from = static_cast<std::int64_t>(random.below(4000)), length = static_cast<std::int64_t>(1 + random.below(50));
        if (random.chance(1, 2)) {
            const Slot slot = calendar.reserve(at(from), Duration{length});
            for (auto t = slot.start; t < slot.end; t += Duration{1}) busy[static_cast<std::size_t>(ns_since_start(t))] = true;
            continue;
        }
        std::int64_t left = length, t = from, begin = -1;
        for (; left > 0; ++t)
            if (!busy[static_cast<std::size_t>(t)]) {
                if (begin < 0) begin = t;
                busy[static_cast<std::size_t>(t)] = true;
                --left;
            }
        const Slot slot = calendar.reserve_in_pieces(at(from), Duration{length}, Duration{1});
        REQUIRE(slot.start == at(begin));
        REQUIRE(slot.end == at(t));
    }
}

TEST_CASE("a phase of no length fits anywhere and takes nothing", "[base]") {
    Calendar calendar;
    calendar.take(at(10), Duration{10});
    CHECK(calendar.earliest(at(15), Duration{0}) == at(15));
    CHECK_NOTHROW(calendar.take(at(15), Duration{0}));
    CHECK(calendar.busy() == Duration{10});
}

TEST_CASE("a run in one go leaves what its phases leave one by one, however long it is and whatever is settled later", "[base]") {
    const std::uint64_t seed = GENERATE(range(1u, 21u));
    CAPTURE(seed);
    Random random{seed};
    const Duration shortest{1 + static_cast<std::int64_t>(random.below(20))};
    Calendar whole{shortest}, single{shortest};
    std::int64_t now = 0;
    const auto some = [&](std::uint64_t most) { return Duration{1 + static_cast<std::int64_t>(random.below(most))}; };
    for (int round = 0; round < 40; ++round) {
        std::vector<Calendar::Phase> phases;
        Duration end{0};
        for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
            const Duration offset = end + (random.chance(1, 3) ? Duration{0} : some(40));
            phases.push_back({offset, some(30), phases.empty() || random.chance(1, 2)});
            end = phases.back().offset + phases.back().length;
        }
        const Duration step = end - (random.chance(1, 3) ? phases.front().offset : Duration{0}) + (random.chance(1, 3) ? Duration{0} : some(60));
        const auto count = static_cast<std::uint32_t>(1 + random.below(random.chance(1, 2) ? 5 : 300));
        const SimTime start = std::max(whole.free_at(), at(now)) + (random.chance(1, 3) ? Duration{0} : some(100));
        whole.settle(at(now));
        whole.take_run(start, step, count, phases);
        for (std::uint32_t i = 0; i < count; ++i)
            for (const Calendar::Phase& phase : phases) {
                if (phase.settles) single.settle(at(now));
                single.take(start + i * step + phase.offset, phase.length);
            }
        REQUIRE(whole.busy() == single.busy());
        REQUIRE(whole.free_at() == single.free_at());
        now += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ns_since_start(whole.free_at()) - now) + 50));
        for (Calendar* calendar : {&whole, &single}) calendar->settle(at(now));
        for (int probe = 0; probe < 40; ++probe) {
            const SimTime from = at(now) + some(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns_since_start(whole.free_at()) - now)));
            const Duration length = shortest + some(50);
            REQUIRE(whole.earliest(from, length) == single.earliest(from, length));
        }
        if (random.chance(1, 2)) {
            const Duration length = shortest + some(20);
            REQUIRE(whole.reserve(at(now), length).start == single.reserve(at(now), length).start);
        }
    }
}

TEST_CASE("a run woven into what is reserved leaves what its phases leave one by one", "[base]") {
    int woven = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        const Duration shortest{1 + static_cast<std::int64_t>(random.below(20))};
        Calendar whole{shortest}, single{shortest};
        std::vector<Slot> scratch;
        std::int64_t now = 0;
        const auto some = [&](std::uint64_t most) { return Duration{1 + static_cast<std::int64_t>(random.below(most))}; };
        const auto a_phase = [&] { return shortest + some(20); };
        for (int round = 0; round < 300; ++round) {
            if (random.chance(1, 3)) { // another run, often of the same step
                const Duration offset = some(60);
                const auto count = static_cast<std::uint32_t>(1 + random.below(80));
                const Calendar::Phase phases[] = {{Duration{0}, a_phase()}, {Duration{50} + offset, a_phase()}};
                const SimTime start = std::max(whole.free_at(), at(now)) + some(40);
                const Duration own_step{random.chance(2, 3) ? 200 : 160};
                for (Calendar* calendar : {&whole, &single}) {
                    calendar->settle(at(now));
                    calendar->take_run(start, own_step, count, phases);
                }
            }
            const SimTime start = at(now) + some(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns_since_start(whole.free_at()) - now)));
            std::vector<Calendar::Phase> phases{{Duration{0}, a_phase()}, {Duration{50}, a_phase(), random.chance(1, 2)}};
            if (random.chance(1, 2)) phases.push_back({phases.back().offset + phases.back().length, a_phase(), true});
            const Duration step{200};
            for (Calendar* calendar : {&whole, &single}) calendar->settle(at(now));
            const std::uint32_t count = whole.steps_free(start, step, static_cast<std::uint32_t>(1 + random.below(100)), phases);
            if (count != 0) {
                ++woven;
                whole.weave_run(start, step, count, phases, scratch);
                for (std::uint32_t i = 0; i < count; ++i)
                    for (const Calendar::Phase& phase : phases) {
                        if (phase.settles) single.settle(at(now));
                        REQUIRE(single.earliest(start + i * step + phase.offset, phase.length) == start + i * step + phase.offset);
                        single.take(start + i * step + phase.offset, phase.length);
                    }
            }
            REQUIRE(whole.busy() == single.busy());
            REQUIRE(whole.free_at() == single.free_at());
            if (random.chance(1, 4))
                now += static_cast<std::int64_t>(
                    random.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns_since_start(whole.free_at()) - now))));
            for (Calendar* calendar : {&whole, &single}) calendar->settle(at(now));
            for (int probe = 0; probe < 40; ++probe) {
                const SimTime from = at(now) + some(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns_since_start(whole.free_at()) - now)));
                const Duration length = shortest + some(50);
                REQUIRE(whole.earliest(from, length) == single.earliest(from, length));
            }
        }
    }
    CHECK(woven > 500);
}

TEST_CASE("a calendar that keeps as many reservations as are to come loses no gap between them", "[base]") {
    const std::size_t kept = GENERATE(std::size_t{64}, std::size_t{256});
    CAPTURE(kept);
    Calendar calendar{Duration{1}, kept};
    for (std::int64_t i = 1; i <= 200; ++i) calendar.take(at(10 * i), Duration{2});
    calendar.settle(at(0));
    CHECK((calendar.earliest(at(13), Duration{5}) == at(13)) == (kept >= 200));
}

TEST_CASE("what is reserved before an instant is what a naive calendar has marked before it", "[base]") {
    const std::uint64_t seed = GENERATE(31u, 32u, 33u);
    CAPTURE(seed);
    Random random{seed};
    Calendar calendar{Duration{1}, 4096};
    NaiveCalendar naive;
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
        const auto from = now + static_cast<std::int64_t>(random.below(400)), length = static_cast<std::int64_t>(1 + random.below(30));
        naive.take(ns_since_start(calendar.reserve(at(from), Duration{length}).start), length);
        now += static_cast<std::int64_t>(random.below(40));
        calendar.settle(at(now));
        const auto until = now + static_cast<std::int64_t>(random.below(500));
        std::int64_t marked = 0;
        for (std::int64_t t = 0; t < until; ++t) marked += naive.is_busy(t) ? 1 : 0;
        REQUIRE(calendar.busy_before(at(until)) == Duration{marked});
    }
}

TEST_CASE("gaps that were forgotten are no time reserved", "[base]") {
    Calendar calendar{Duration{1}, 8};
    for (std::int64_t i = 0; i < 100; ++i) {
        calendar.take(at(100 * i), Duration{10});
        calendar.settle(at(0));
    }
    CHECK(calendar.busy() == Duration{1000});
    CHECK(calendar.busy_before(calendar.free_at()) == Duration{1000});
    CHECK(calendar.busy_before(at(0)) == Duration{0});
    const auto half = calendar.busy_before(at(5000)).count();
    CHECK((490 <= half && half <= 510));
}
