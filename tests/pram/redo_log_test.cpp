#include <algorithm>
#include <array>

#include "base/contract.h"
#include "base/little_endian.h"
#include "pram/redo_log.h"
#include "tests/pram/pram_fixture.h"
#include "tests/pram/redo_log_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

PramTransaction one_word(std::uint64_t index, std::uint64_t value) {
    PramTransaction t;
    t.write_u64(PramAddress{home + index * 8}, value);
    return t;
}

std::uint64_t home_word(const Pram& pram, std::uint64_t index) { return load_le<std::uint64_t>(pram.view(PramAddress{home + index * 8}, 8)); }

} // namespace

TEST_CASE("a commit of one word costs four words of log and one at home, in this order", "[pram][log]") {
    TestPram t{small_config()};
    RedoLog log{t.pram, PramUser::fs, ring};
    CHECK(log.recover(sim_start).records_replayed == 0);
    const SimTime now = t.pram.last_reserved_end();
    const auto durable = log.commit(one_word(3, 7), now, EventId{42});
    REQUIRE(durable.has_value());
    CHECK(*durable == now + Duration{100 + 4 * 500}); // compare, then head, entry, word, tail
    CHECK(t.pram.last_reserved_end() == *durable + Duration{500});
    CHECK(home_word(t.pram, 3) == 7);
    REQUIRE(t.sink.writes.size() == 1);
    const PramWriteEvent& event = t.sink.writes.front();
    CHECK(event.start == now);
    CHECK(event.end == *durable + Duration{500});
    CHECK(event.parent == EventId{42});
    CHECK(event.user == PramUser::fs);
    CHECK(event.log_words == 4);
    CHECK(event.home_words == 1);
    CHECK(event.compared_words == 1);
    CHECK(t.pram.counters().transactions[1] == 1);
}

TEST_CASE("a transaction that changes nothing writes nothing, and is durable with what it relies on", "[pram][log]") {
    TestPram t{small_config()};
    RedoLog log{t.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    const SimTime first = *log.commit(one_word(0, 9), sim_start);
    const auto before = t.pram.counters().words_written[1];
    const SimTime second = *log.commit(one_word(0, 9), sim_start);
    CHECK(second > first);
    CHECK(t.pram.counters().words_written[1] == before);
    CHECK(*log.commit(PramTransaction{}, sim_start) >= first);
}

TEST_CASE("a later write of a transaction to the same bytes wins, however they overlap", "[pram][log]") {
    const std::uint32_t word = GENERATE(2u, 4u, 8u);
    CAPTURE(word);
    TestPram t{small_config(word)};
    RedoLog log{t.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    Random random{word};
    std::vector<std::byte> model(256);
    for (int i = 0; i < 200; ++i) {
        PramTransaction transaction;
        for (std::uint64_t k = 1 + random.below(12); k != 0; --k) {
            const std::size_t at = random.below(240);
            const auto data = random_bytes(random, 1 + random.below(16));
            transaction.write(PramAddress{home + at}, data);
            std::ranges::copy(data, model.begin() + static_cast<std::ptrdiff_t>(at));
        }
        REQUIRE(log.commit(transaction, sim_start).has_value());
        REQUIRE(std::ranges::equal(t.pram.view(PramAddress{home}, model.size()), model));
    }
}

TEST_CASE("a record that cannot fit is refused and nothing is written", "[pram][log]") {
    TestPram t{small_config()};
    RedoLog log{t.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    CHECK(log.max_record_bytes() == 4096);
    PramTransaction transaction;
    transaction.write(PramAddress{home}, std::vector<std::byte>(4096 - 16, std::byte{1}));
    const auto refused = log.commit(transaction, sim_start);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error() == PramLogError::record_too_large);
    CHECK(home_word(t.pram, 0) == 0);
    CHECK(t.pram.counters().words_written[1] == 0);
    transaction.clear();
    transaction.write(PramAddress{home}, std::vector<std::byte>(4096 - 24, std::byte{1}));
    CHECK(log.commit(transaction, sim_start).has_value());
}

TEST_CASE("the promised bound of a record's size holds", "[pram][log]") {
    const std::uint32_t word = GENERATE(2u, 4u, 8u);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(word, seed);
    TestPram t{small_config(word)};
    RedoLog log{t.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    Random random{seed};
    for (int i = 0; i < 150; ++i) {
        PramTransaction transaction;
        std::uint64_t bound = RedoLog::record_overhead;
        for (std::uint64_t k = 1 + random.below(10); k != 0; --k) {
            auto data = random_bytes(random, 1 + random.below(200));
            for (std::byte& b : data) {
                if (random.chance(9, 10)) b = std::byte{0};
            }
            bound += RedoLog::write_overhead + data.size();
            transaction.write(PramAddress{home + random.below(20'000)}, data);
        }
        REQUIRE(log.commit(transaction, sim_start).has_value());
        REQUIRE(t.sink.writes.back().log_words * word <= bound);
    }
}

TEST_CASE("a log refuses what breaks its promises", "[pram][log]") {
    TestPram t{small_config()};
    RedoLog log{t.pram, PramUser::fs, ring};
    CHECK_THROWS_AS(log.commit(one_word(0, 1), sim_start), ContractViolation);
    (void)log.recover(sim_start);
    PramTransaction into_ring;
    into_ring.write_u32(PramAddress{8188}, 1);
    CHECK_THROWS_AS(log.commit(into_ring, sim_start), ContractViolation);
    PramTransaction outside;
    outside.write_u64(PramAddress{(128u << 10) - 4}, 1);
    CHECK_THROWS_AS(log.commit(outside, sim_start), ContractViolation);
    CHECK_THROWS_AS((RedoLog{t.pram, PramUser::fs, {PramAddress{0}, 4096}}), ContractViolation);
    CHECK_THROWS_AS((RedoLog{t.pram, PramUser::fs, {PramAddress{0}, 9000}}), ContractViolation);
    CHECK_THROWS_AS((RedoLog{t.pram, PramUser::fs, {PramAddress{124u << 10}, 8192}}), ContractViolation);
}

TEST_CASE("the ring wraps hundreds of times and recovery goes on where it ended", "[pram][log]") {
    const std::uint32_t word = GENERATE(2u, 8u);
    CAPTURE(word);
    MemoryPramStore store{small_config(word).bytes};
    NullEventSink sink;
    Random random{word};
    std::vector<std::byte> model(2048);
    std::uint64_t log_words = 0;
    for (int mount = 0; mount < 30; ++mount) {
        Pram pram{small_config(word), store, sink, PramUndo::none};
        RedoLog log{pram, PramUser::fs, ring};
        const LogRecovery recovery = log.recover(sim_start);
        CHECK(recovery.words_written == 0); // P1: all was in place
        CHECK_FALSE(recovery.torn_tail);
        CHECK((recovery.records_replayed > 0) == (mount > 0));
        REQUIRE(std::ranges::equal(pram.view(PramAddress{home}, model.size()), model));
        for (int i = 0; i < 200; ++i) {
            PramTransaction transaction;
            const std::size_t at = random.below(model.size() - 600);
            const auto data = random_bytes(random, 1 + random.below(600));
            transaction.write(PramAddress{home + at}, data);
            std::ranges::copy(data, model.begin() + static_cast<std::ptrdiff_t>(at));
            REQUIRE(log.commit(transaction, sim_start).has_value());
        }
        log_words += pram.counters().words_written[1];
    }
    CHECK(log_words * word > 100 * ring.bytes);
}

TEST_CASE("two logs share one PRAM and recover apart", "[pram][log]") {
    const PramRange other_ring{PramAddress{64u << 10}, 8192};
    TestPram t{small_config()};
    RedoLog fs{t.pram, PramUser::fs, ring};
    RedoLog ftl{t.pram, PramUser::ftl, other_ring};
    (void)fs.recover(sim_start);
    (void)ftl.recover(sim_start);
    SimTime fs_end = sim_start;
    SimTime ftl_end = sim_start;
    for (std::uint64_t i = 1; i <= 50; ++i) {
        fs_end = *fs.commit(one_word(0, i), sim_start);
        ftl_end = *ftl.commit(one_word(10'000, i), sim_start); // behind the other ring
    }
    CHECK(home_word(t.pram, 10'000) == 50);
    FixedOutcome outcome{WordOutcome::old_value};
    (void)t.pram.cut(fs_end, outcome);
    CHECK(ftl_end > fs_end);
    TestPram after{small_config(), t.own};
    RedoLog fs_after{after.pram, PramUser::fs, ring};
    RedoLog ftl_after{after.pram, PramUser::ftl, other_ring};
    CHECK(fs_after.recover(sim_start).records_replayed == 50);
    CHECK(ftl_after.recover(sim_start).records_replayed == 49);
    CHECK(home_word(after.pram, 0) == 50);
    CHECK(home_word(after.pram, 10'000) == 49);
    RedoLog stranger{after.pram, PramUser::ftl, ring};
    CHECK(stranger.recover(sim_start).records_replayed == 0);
}

TEST_CASE("recovery takes the time of reading the log and comparing its words", "[pram][log]") {
    TestPram t{small_config()};
    {
        RedoLog log{t.pram, PramUser::fs, ring};
        CHECK(log.recover(sim_start).done == sim_time_from_ns(200)); // the heads of both halves
        (void)log.commit(one_word(0, 1), sim_start);
        (void)log.commit(one_word(0, 2), sim_start);
    }
    RedoLog log{t.pram, PramUser::fs, ring};
    const SimTime now = t.pram.last_reserved_end();
    CHECK(log.recover(now).done == now + Duration{(2 * 4 + 2) * 100 + 100}); // two records, two heads, one word compared
}

TEST_CASE("of a log image cut short or flipped anywhere only less is found", "[pram][log]") {
    TestPram t{small_config()};
    RedoLog log{t.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    Random random{3};
    for (int i = 0; i < 60; ++i) {
        PramTransaction transaction;
        transaction.write(PramAddress{home + random.below(100) * 8}, random_bytes(random, 100));
        REQUIRE(log.commit(transaction, sim_start).has_value());
    }
    const auto found = [&](auto&& damage) {
        TestPram copy{small_config(), t.own};
        damage(copy.own.cells().first(ring.bytes));
        RedoLog damaged{copy.pram, PramUser::fs, ring};
        return damaged.recover(sim_start).records_replayed;
    };
    const std::uint64_t whole = found([](auto) {});
    CHECK(whole > 30);
    std::uint64_t less = 0;
    for (std::size_t at = 0; at < ring.bytes; at += 3) {
        const std::uint64_t flipped = found([&](std::span<std::byte> bytes) { bytes[at] ^= static_cast<std::byte>(1u << at % 8); });
        REQUIRE(flipped <= whole);
        if (flipped < whole) ++less;
    }
    CHECK(less > 1000);
    // What comes before the damage is old: it does not overwrite what came after.
    std::size_t rewound = 0;
    for (std::size_t at = 0; at < ring.bytes; at += 3) {
        TestPram copy{small_config(), t.own};
        copy.own.cells()[at] ^= static_cast<std::byte>(1u << at % 8);
        RedoLog damaged{copy.pram, PramUser::fs, ring};
        (void)damaged.recover(sim_start);
        const auto homes = copy.own.cells().subspan(ring.bytes), before = t.own.cells().subspan(ring.bytes);
        rewound += std::ranges::equal(homes, before) ? 0 : 1;
    }
    CHECK(rewound <= 20); // in the head of the newest record: it was never begun then, and the one before is written again
    for (std::size_t at = 0; at < ring.bytes; at += 5) {
        REQUIRE(found([&](std::span<std::byte> bytes) { std::ranges::fill(bytes.subspan(at), std::byte{0}); }) <= whole);
    }
}
