// A cut at T: words complete before T stay, the one in flight gets an outcome, later ones never were.
#include <algorithm>
#include <cstring>
#include <map>

#include "base/contract.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint64_t ones = ~std::uint64_t{0};

std::vector<std::byte> words(std::size_t count) { return std::vector<std::byte>(count * 8, std::byte{0xff}); }

std::uint64_t word_at(const Pram& pram, std::uint64_t index) {
    std::uint64_t word = 0;
    std::memcpy(&word, pram.view(PramAddress{index * 8}, 8).data(), 8);
    return word;
}

} // namespace

TEST_CASE("a cut leaves a prefix of the words, at every nanosecond that matters", "[pram][cut]") {
    // Four words: compared until 400, written in [400, 900), [900, 1400), [1400, 1900), [1900, 2400).
    for (std::int64_t cut : {0, 399, 400, 401, 899, 900, 901, 1399, 1400, 1899, 1900, 2399, 2400, 3000}) {
        CAPTURE(cut);
        TestPram t{small_config()};
        t.pram.write(PramUser::fs, PramAddress{0}, words(4), sim_start);
        FixedOutcome outcome{WordOutcome::old_value};
        const PramCutReport report = t.pram.cut(at_ns(cut), outcome);
        const std::int64_t complete = std::clamp<std::int64_t>((cut - 400) / 500, 0, 4);
        for (std::int64_t i = 0; i < 4; ++i) CHECK(word_at(t.pram, static_cast<std::uint64_t>(i)) == (i < complete ? ones : 0));
        const bool in_flight = cut > 400 && cut < 2400 && (cut - 400) % 500 != 0;
        CHECK(report.words_torn == (in_flight ? 1 : 0));
        CHECK(report.words_undone == static_cast<std::uint64_t>(4 - complete) - report.words_torn);
        CHECK(t.pram.wear_by_region()[0] == 4 - report.words_undone);
    }
}

TEST_CASE("the word in flight becomes old, new or a mix of bits", "[pram][cut]") {
    const auto left = [](WordOutcome outcome) {
        TestPram t{small_config()};
        t.pram.write(PramUser::fs, PramAddress{0}, words(2), sim_start);
        FixedOutcome outcomes{outcome, 5};
        (void)t.pram.cut(at_ns(300), outcomes);
        CHECK(outcomes.asked == std::vector{PramAddress{0}});
        CHECK(word_at(t.pram, 1) == 0);
        return word_at(t.pram, 0);
    };
    CHECK(left(WordOutcome::old_value) == 0);
    CHECK(left(WordOutcome::new_value) == ones);
    const std::uint64_t mixed = left(WordOutcome::mixed_bits);
    CHECK(mixed != 0);
    CHECK(mixed != ones);
}

TEST_CASE("bits in which old and new agree survive any tear", "[pram][cut]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        TestPram t{small_config(2)};
        t.pram.write(PramUser::fs, PramAddress{0}, bytes_of({0xf0, 0x0f}), sim_start);
        const SimTime begun = t.pram.last_reserved_end();
        t.pram.write(PramUser::fs, PramAddress{0}, bytes_of({0xff, 0x00}), begun);
        FixedOutcome outcomes{WordOutcome::mixed_bits, seed};
        (void)t.pram.cut(begun + Duration{101}, outcomes);
        CHECK((t.pram.cells()[0] & std::byte{0xf0}) == std::byte{0xf0});
        CHECK((t.pram.cells()[1] & std::byte{0xf0}) == std::byte{0x00});
        CHECK(t.pram.cells()[2] == std::byte{0});
    }
}

TEST_CASE("a word written many times goes back to what it was at the cut", "[pram][cut]") {
    for (int kept = 0; kept <= 6; ++kept) {
        TestPram t{small_config()};
        SimTime cut = sim_start;
        for (int i = 1; i <= 6; ++i) {
            const PramWritten w = t.pram.write(PramUser::fs, PramAddress{8}, bytes_of({static_cast<unsigned>(i), 0, 0, 0, 0, 0, 0, 0}), sim_start);
            if (i == kept) cut = w.end;
        }
        FixedOutcome outcome{WordOutcome::mixed_bits};
        (void)t.pram.cut(cut, outcome);
        CHECK(word_at(t.pram, 1) == static_cast<std::uint64_t>(kept));
        CHECK(outcome.asked.empty());
    }
}

TEST_CASE("what settle has passed cannot be undone, what it has not passed can", "[pram][cut]") {
    TestPram t{small_config()};
    const SimTime first = t.pram.write(PramUser::fs, PramAddress{0}, words(1), sim_start).end;
    t.pram.write(PramUser::fs, PramAddress{8}, words(1), sim_start);
    t.pram.settle(first);
    FixedOutcome outcome{WordOutcome::old_value};
    CHECK(t.pram.cut(first, outcome).words_undone == 1);
    CHECK(word_at(t.pram, 0) == ones);
    CHECK(word_at(t.pram, 1) == 0);
}

TEST_CASE("nothing may be issued after a cut, and no cut comes where undo was not kept", "[pram][cut]") {
    TestPram t{small_config()};
    FixedOutcome outcome{WordOutcome::old_value};
    (void)t.pram.cut(sim_start, outcome);
    CHECK_THROWS_AS(t.pram.write(PramUser::fs, PramAddress{0}, words(1), sim_start), ContractViolation);
    CHECK_THROWS_AS(t.pram.read(8, sim_start), ContractViolation);
    CHECK_THROWS_AS(t.pram.cut(sim_start, outcome), ContractViolation);
    TestPram none{small_config(), PramUndo::none};
    CHECK_THROWS_AS(none.pram.cut(sim_start, outcome), ContractViolation);
}

TEST_CASE("after random writes of two users a cut leaves of each user exactly what had ended", "[pram][cut]") {
    const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 21));
    CAPTURE(seed);
    Random random{seed};
    TestPram t{small_config()};
    struct Step {
        PramUser user;
        std::uint64_t word;
        std::uint64_t value;
        SimTime end;
    };
    std::vector<Step> steps;
    SimTime now = sim_start;
    SimTime settled = sim_start;
    for (std::uint64_t i = 1; i <= 3000; ++i) {
        const PramUser user = random.chance(1, 3) ? PramUser::ftl : PramUser::fs;
        const std::uint64_t word = random.below(8) + (user == PramUser::ftl ? 0 : 8);
        std::uint64_t value = i;
        const PramWritten w = t.pram.write(user, PramAddress{word * 8}, std::as_bytes(std::span{&value, 1}), now);
        steps.push_back({user, word, value, w.end});
        now += Duration{static_cast<std::int64_t>(random.below(1400))};
        if (random.chance(1, 20)) t.pram.settle(settled = now);
    }
    const Duration open = t.pram.last_reserved_end() - settled;
    const SimTime cut = settled + Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(open.count()) + 1))};
    std::map<std::uint64_t, std::uint64_t> expected;
    for (const Step& step : steps) {
        if (step.end <= cut) expected[step.word] = step.value;
    }
    FixedOutcome outcome{WordOutcome::old_value};
    (void)t.pram.cut(cut, outcome);
    for (std::uint64_t word = 0; word < 16; ++word) CHECK(word_at(t.pram, word) == expected[word]);
}
