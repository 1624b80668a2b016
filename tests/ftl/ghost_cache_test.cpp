/// The ghost caches and the tuner by themselves, on examples that can be followed by hand.
#include <vector>

#include "ftl/cache/ghost_bitmap.h"
#include "ftl/cache/partition_tuner.h"
#include "ftl/cache/running_mean.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

/// Keys whose bits differ, so that collisions do not blur the example.
std::vector<std::uint32_t> apart(std::size_t count, std::uint64_t bytes) {
    GhostBitmap seen{bytes, 1};
    seen.set_capacity(count);
    std::vector<std::uint32_t> keys;
    for (std::uint32_t key = 0; keys.size() < count; ++key) {
        if (seen.holds(key)) continue;
        seen.evicted(key);
        keys.push_back(key);
    }
    return keys;
}

} // namespace

TEST_CASE("the ghost buffer is the tail of a longer LRU list: reads keep a page in it, writes take it out, the oldest goes", "[cache][ghost]") {
    GhostBuffer ghost{8};
    ghost.evicted(Lpn{1});
    CHECK(ghost.size() == 0); // no room yet
    ghost.set_capacity(2);
    for (const std::uint32_t lpn : {1u, 2u, 3u}) ghost.evicted(Lpn{lpn});
    CHECK_FALSE(ghost.holds(Lpn{1}));
    ghost.missed_read(Lpn{1}); // gone: no hit
    ghost.missed_read(Lpn{2}); // young again
    ghost.evicted(Lpn{4});     // 3 goes
    CHECK(ghost.holds(Lpn{2}));
    CHECK_FALSE(ghost.holds(Lpn{3}));
    ghost.missed_write(Lpn{2}); // back in the buffer
    ghost.missed_write(Lpn{2}); // no hit any more
    CHECK_FALSE(ghost.holds(Lpn{2}));
    CHECK(ghost.hits().reads == 1);
    CHECK(ghost.hits().writes == 1);
    ghost.evicted(Lpn{5});
    ghost.set_capacity(1);
    CHECK(ghost.holds(Lpn{5}));
    CHECK_FALSE(ghost.holds(Lpn{4}));
    CHECK(ghost.broken_invariant() == 0);
}

TEST_CASE("an entry of the ghost mapping cache hits once, and one at random makes room", "[cache][ghost]") {
    const auto keys = apart(6, 64);
    GhostBitmap ghost{64, 7};
    ghost.set_capacity(4);
    for (std::size_t i = 0; i < 4; ++i) ghost.evicted(keys[i]);
    CHECK(ghost.bits_set() == 4);
    ghost.missed_read(keys[0]);
    ghost.missed_read(keys[0]);
    ghost.missed_write(keys[1]);
    ghost.missed_write(keys[5]); // never came
    CHECK(ghost.hits().reads == 1);
    CHECK(ghost.hits().writes == 1);
    CHECK(ghost.size() == 2);
    for (std::size_t i = 3; i < 6; ++i) ghost.evicted(keys[i]); // keys[3] a second time: an entry more, no bit more
    CHECK(ghost.size() == 4);
    CHECK(ghost.bits_set() >= 3);
    CHECK(ghost.bits_set() <= 4);
    CHECK(ghost.holds(keys[5]));
    ghost.clear_hits();
    CHECK(ghost.hits().reads + ghost.hits().writes == 0);
    CHECK(ghost.broken_invariant() == 0);
}

TEST_CASE("misses that one flash operation serves are one hit, if all of them are here, and none otherwise", "[cache][ghost]") {
    const auto keys = apart(6, 64);
    GhostBitmap ghost{64, 7};
    ghost.set_capacity(6);
    for (std::size_t i = 0; i < 5; ++i) ghost.evicted(keys[i]);
    GhostBitmap::Together all, one_lacks;
    for (const std::size_t i : {0u, 1u, 2u}) ghost.join(all, keys[i]);
    ghost.missed_read(all);
    CHECK(ghost.hits().reads == 1); // not three
    CHECK(ghost.size() == 2);
    for (const std::size_t i : {3u, 5u, 4u}) ghost.join(one_lacks, keys[i]); // keys[5] never came: the page is read all the same
    ghost.missed_read(one_lacks);
    CHECK(ghost.hits().reads == 1);
    CHECK(ghost.size() == 0);
}

TEST_CASE("keys that never were here find bits set by chance: they are no hits, and those that were are as many as they are", "[cache][ghost]") {
    GhostBitmap ghost{1024, 5}; // 8192 bits
    constexpr std::uint32_t entries = 4000, strangers = 20'000;
    Random random{3};
    std::vector<std::uint32_t> keys(entries);
    ghost.set_capacity(entries);
    for (std::uint32_t& key : keys) ghost.evicted(key = static_cast<std::uint32_t>(random.below(1u << 30)));
    const auto missed = [&](std::uint32_t key) {
        GhostBitmap::Together alone;
        ghost.join(alone, key);
        return alone;
    };
    std::uint32_t set = 0;
    for (std::uint32_t i = 0; i < strangers; ++i) {
        const auto stranger = static_cast<std::uint32_t>((1u << 30) + random.below(1u << 30));
        const bool is_set = ghost.holds(stranger);
        ghost.missed_read(missed(stranger));
        if (is_set) ghost.evicted(stranger); // put back, so that the bitmap stays as full
        set += is_set ? 1 : 0;
    }
    CHECK(set > strangers / 4); // each of them was a hit once
    CHECK(ghost.hits().reads < strangers / 50);
    ghost.clear_hits();
    std::uint32_t here = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        here += ghost.holds(keys[i]) ? 1 : 0;
        ghost.missed_write(missed(keys[i]));
    }
    CHECK(here > 300);
    CHECK(ghost.hits().writes <= here);
    CHECK(ghost.hits().writes > here * 4 / 5);
    CHECK(ghost.broken_invariant() == 0);
}

TEST_CASE("while bits x 3 are fewer than the entries only the number of entries shrinks, then bits are reset", "[cache][ghost]") {
    GhostBitmap ghost{8, 3}; // 64 bits
    ghost.set_capacity(1000);
    for (std::uint32_t key = 0; key < 1000; ++key) ghost.evicted(key);
    CHECK(ghost.size() == 1000);
    CHECK(ghost.bits_set() == 64);
    ghost.set_capacity(193);
    CHECK(ghost.bits_set() == 64); // 64 x 3 = 192 < 193
    ghost.set_capacity(192);
    CHECK(ghost.bits_set() == 63);
    ghost.set_capacity(60);
    CHECK(ghost.bits_set() == 19); // the first with bits x 3 < 60
    CHECK(ghost.size() == 60);
    CHECK(ghost.broken_invariant() == 0);
}

TEST_CASE("the same seed resets the same bits, another seed others", "[cache][ghost]") {
    const auto survivors = [](std::uint64_t seed) {
        GhostBitmap ghost{1024, seed};
        ghost.set_capacity(500);
        for (std::uint32_t key = 0; key < 2000; ++key) ghost.evicted(key);
        std::vector<std::uint32_t> kept;
        for (std::uint32_t key = 0; key < 2000; ++key)
            if (ghost.holds(key)) kept.push_back(key);
        return kept;
    };
    CHECK(survivors(1) == survivors(1));
    CHECK(survivors(1) != survivors(2));
}

TEST_CASE("the richer ghost's side grows by the tune unit times the ratio", "[cache][partition]") {
    PartitionTuner tuner{{.least = 100, .most = 1000, .tune_bytes = 8, .ghost_floor = 0.5}, 500};
    const ProfitFactors factors{.buffer_read = 10, .buffer_write = 50, .map_read = 25, .map_write = 5};
    // (0 x 10 + 2 x 50) / 100 = 1; (3 x 25 + 5 x 5) / 50 = 2
    auto d = tuner.decide({{0, 2}, 100, 400}, {{3, 5}, 50, 400}, factors);
    CHECK(d.buffer_benefit == Approx(1));
    CHECK(d.map_benefit == Approx(2));
    CHECK(d.map_bytes == 516);
    // (4 x 10 + 4 x 50) / 40 = 6; 3 x 25 / 50 = 1.5
    d = tuner.decide({{4, 4}, 40, 400}, {{3, 0}, 50, 400}, factors);
    CHECK(d.map_bytes == 516 - 32);
    // Half a hit of the dearer kind over all that the ghost may stand for: 0.5 x 25 / 500 = 0.025; 16 x 50 / 800 = 1: ratio 40
    d = tuner.decide({{0, 16}, 800, 900}, {{0, 0}, 7, 500}, factors);
    CHECK(d.map_benefit == Approx(0.025));
    CHECK(d.map_bytes == 484 - 320);
    d = tuner.decide({{0, 16}, 800, 900}, {{0, 0}, 7, 500}, factors);
    CHECK(d.map_bytes == 100); // not below the least
    d = tuner.decide({{0, 0}, 100, 100'000'000}, {{9, 9}, 5000, 5000}, factors);
    CHECK(d.map_bytes == 1000); // not above the most
}

TEST_CASE("ghosts without any hit leave the partition alone, and so do equal benefits", "[cache][partition]") {
    PartitionTuner tuner{{.least = 0, .most = 1000, .tune_bytes = 8, .ghost_floor = 0.5}, 400};
    const ProfitFactors factors{10, 10, 20, 20};
    CHECK(tuner.decide({{0, 0}, 100, 100}, {{0, 0}, 100, 1000}, factors).map_bytes == 400);
    CHECK(tuner.decide({{2, 0}, 100, 100}, {{0, 1}, 100, 1000}, factors).map_bytes == 400);
}

TEST_CASE("no step is larger than what the richer ghost stands for, but a tune unit is always possible", "[cache][partition]") {
    PartitionTuner tuner{{.least = 10, .most = 1000, .tune_bytes = 8, .ghost_floor = 0.5}, 400};
    const ProfitFactors factors{10, 10, 20, 20};
    CHECK(tuner.decide({{0, 0}, 100, 1'000'000}, {{1, 0}, 30, 1000}, factors).map_bytes == 430); // by the ratio it would be 1 MB and more
    CHECK(tuner.decide({{0, 0}, 100, 1'000'000}, {{1, 0}, 4, 1000}, factors).map_bytes == 438);
    PartitionTuner without_floor{{.least = 10, .most = 1000, .tune_bytes = 8, .ghost_floor = 0}, 400};
    CHECK(without_floor.decide({{1, 0}, 100, 100}, {{0, 0}, 100, 1000}, factors).map_bytes == 300); // nothing to divide by
}

TEST_CASE("a running mean begins with its first sample and forgets slowly", "[cache][partition]") {
    RunningMean mean;
    CHECK(mean.value_or(7) == 7);
    mean.add(10);
    CHECK(mean.value_or(7) == 10);
    mean.add(74);
    CHECK(mean.value_or(7) == Approx(11));
}
