// Times are checked against arithmetic with the default preset: 100 ns to read a word, 500 ns to write one.
#include <algorithm>
#include <array>

#include "base/contract.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<std::byte> filled(std::size_t size, unsigned value) { return std::vector<std::byte>(size, static_cast<std::byte>(value)); }

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

} // namespace

TEST_CASE("a new PRAM is all zero and unworn", "[pram]") {
    TestPram t{small_config()};
    CHECK(std::ranges::all_of(t.pram.cells(), [](std::byte b) { return b == std::byte{0}; }));
    CHECK(std::ranges::all_of(t.pram.wear_by_region(), [](std::uint64_t n) { return n == 0; }));
    CHECK(t.pram.last_reserved_end() == sim_start);
}

TEST_CASE("a write takes a read of every word it covers and a write of every word that changes", "[pram]") {
    TestPram t{small_config()};
    const PramWritten first = t.pram.write(PramUser::fs, PramAddress{64}, filled(32, 1), at_ns(1000));
    CHECK(first.words == 4);
    CHECK(first.compared == 4);
    CHECK(first.start == at_ns(1000));
    CHECK(first.end == at_ns(1000 + 4 * 100 + 4 * 500));
    auto next = filled(32, 1);
    next[9] = std::byte{2}; // in the second word
    const PramWritten second = t.pram.write(PramUser::fs, PramAddress{64}, next, first.end);
    CHECK(second.words == 1);
    CHECK(second.end == first.end + Duration{4 * 100 + 500});
    CHECK(equal(t.pram.view(PramAddress{64}, 32), next));
}

TEST_CASE("writing what is there already writes no word", "[pram]") {
    TestPram t{small_config()};
    const PramWritten w = t.pram.write(PramUser::ftl, PramAddress{0}, filled(80, 0), sim_start);
    CHECK(w.words == 0);
    CHECK(w.end == at_ns(10 * 100));
    CHECK(t.pram.counters().words_written[0] == 0);
    CHECK(t.pram.counters().words_compared[0] == 10);
}

TEST_CASE("a write that covers words in part keeps their other bytes", "[pram]") {
    const std::uint32_t word = GENERATE(2u, 4u, 8u);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    CAPTURE(word, seed);
    TestPram t{small_config(word)};
    Random random{seed};
    std::vector<std::byte> model(256);
    for (int i = 0; i < 300; ++i) {
        const std::size_t at = random.below(model.size());
        const auto data = random_bytes(random, 1 + random.below(model.size() - at));
        std::ranges::copy(data, model.begin() + static_cast<std::ptrdiff_t>(at));
        const PramWritten w = t.pram.write(PramUser::fs, PramAddress{at}, data, sim_start);
        CHECK(w.compared == (at + data.size() + word - 1) / word - at / word);
        REQUIRE(equal(t.pram.view(PramAddress{0}, model.size()), model));
    }
}

TEST_CASE("P1: writes of one user follow one another, however early the later one is asked for", "[pram]") {
    TestPram t{small_config()};
    const PramWritten first = t.pram.write(PramUser::fs, PramAddress{0}, filled(8, 1), at_ns(5000));
    const PramWritten second = t.pram.write(PramUser::fs, PramAddress{8}, filled(8, 2), at_ns(0));
    CHECK(second.start == first.end);
}

TEST_CASE("two users interleave: one fills the gap that the other leaves", "[pram]") {
    TestPram t{small_config()};
    t.pram.write(PramUser::fs, PramAddress{0}, filled(8, 1), at_ns(0)); // to 600
    t.pram.write(PramUser::fs, PramAddress{8}, filled(8, 2), at_ns(5000));
    const PramWritten other = t.pram.write(PramUser::ftl, PramAddress{64}, filled(16, 3), at_ns(0));
    CHECK(other.start == at_ns(600));
    CHECK(other.end == at_ns(600 + 2 * 600));
    const PramWritten too_long = t.pram.write(PramUser::ftl, PramAddress{128}, filled(80, 3), at_ns(0));
    CHECK(too_long.start == at_ns(5600)); // ten words need 6000 ns, the gap has 3200
}

TEST_CASE("reads use the same port and wait for what is reserved there", "[pram]") {
    TestPram t{small_config()};
    CHECK(t.pram.read(64, sim_start) == at_ns(800));
    CHECK(t.pram.read(9, sim_start) == at_ns(1000)); // two words
    CHECK(t.pram.read(0, at_ns(3)) == at_ns(3));
    t.pram.write(PramUser::fs, PramAddress{0}, filled(8, 1), sim_start);
    CHECK(t.pram.read(8, sim_start) == at_ns(1700));
    CHECK(t.pram.last_reserved_end() == at_ns(1700));
}

TEST_CASE("HY: two-byte words of 10 us write only those that change", "[pram]") {
    PramConfig config = small_config(2);
    config.word_read = Duration{80};
    config.word_write = Duration{10'000};
    TestPram t{config};
    auto data = filled(512, 0);
    data[0] = std::byte{1};
    data[100] = std::byte{1};
    data[101] = std::byte{1};
    const PramWritten w = t.pram.write(PramUser::fs, PramAddress{512}, data, sim_start);
    CHECK(w.words == 2);
    CHECK(w.end == at_ns(256 * 80 + 2 * 10'000));
}

TEST_CASE("words given by a caller that compared are written whether they differ or not", "[pram]") {
    TestPram t{small_config()};
    const auto zero = filled(16, 0);
    const std::array runs{PramRun{PramAddress{0}, zero}, PramRun{PramAddress{64}, zero}};
    const PramWritten w = t.pram.write_words(PramUser::ftl, runs, 3, sim_start);
    CHECK(w.words == 4);
    CHECK(w.end == at_ns(3 * 100 + 4 * 500));
    const std::array odd{PramRun{PramAddress{4}, zero}};
    CHECK_THROWS_AS(t.pram.write_words(PramUser::ftl, odd, 0, sim_start), ContractViolation);
}

TEST_CASE("wear counts the words written to each 64 KiB", "[pram]") {
    TestPram t{small_config()};
    REQUIRE(t.pram.wear_by_region().size() == 2);
    t.pram.write(PramUser::fs, PramAddress{65536 - 16}, filled(40, 1), sim_start); // two words below the border, three above
    t.pram.write(PramUser::fs, PramAddress{65536 - 16}, filled(40, 1), sim_start); // nothing changes
    t.pram.write(PramUser::ftl, PramAddress{0}, filled(8, 1), sim_start);
    CHECK(t.pram.wear_by_region()[0] == 3);
    CHECK(t.pram.wear_by_region()[1] == 3);
    CHECK(t.pram.counters().words_written[0] == 1);
    CHECK(t.pram.counters().words_written[1] == 5);
}

TEST_CASE("addresses outside the cells break a contract", "[pram]") {
    TestPram t{small_config()};
    CHECK_THROWS_AS(t.pram.write(PramUser::fs, PramAddress{128u << 10}, filled(1, 1), sim_start), ContractViolation);
    CHECK_THROWS_AS(t.pram.write(PramUser::fs, PramAddress{(128u << 10) - 1}, filled(2, 1), sim_start), ContractViolation);
    CHECK_THROWS_AS(t.pram.view(PramAddress{~std::uint64_t{0}}, 8), ContractViolation);
}

TEST_CASE("a configuration that cannot be is refused with the reason", "[pram]") {
    CHECK(small_config().validate().has_value());
    const auto reason = [](PramConfig config) { return config.validate().error(); };
    CHECK(reason({.bytes = 0}).find("4096") != std::string::npos);
    CHECK(reason({.bytes = 5000}).find("5000") != std::string::npos);
    CHECK(reason({.word_bytes = 3}).find("2, 4 or 8") != std::string::npos);
    CHECK(reason({.word_read = Duration{0}}).find("word_read") != std::string::npos);
    CHECK(reason({.word_write = Duration{-1}}).find("word_write") != std::string::npos);
}

TEST_CASE("a commit is counted at every level and told at level all only", "[pram]") {
    TestPram t{small_config()};
    t.pram.note_commit({.start = sim_start, .end = sim_start, .user = PramUser::fs, .parent = no_event});
    CHECK(t.sink.writes.size() == 1);
    MemoryPramStore store{small_config().bytes};
    RecordingSink quiet{EventLevel::requests};
    Pram pram{small_config(), store, quiet, PramUndo::none};
    pram.note_commit({.start = sim_start, .end = sim_start, .user = PramUser::fs, .parent = no_event});
    CHECK(quiet.writes.empty());
    CHECK(pram.counters().transactions[1] == 1);
}
