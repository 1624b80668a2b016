/// Misses over sizes: against caches and logs that are kept entry by entry; and a DRAM that is divided by them.
#include "ftl/cache/curve_tuner.h"

#include <algorithm>
#include <deque>
#include <map>

#include "ftl/blocks/log_curve.h"
#include "ftl/cache/dram_partition.h"
#include "ftl/schemes/demand_scheme.h"
#include "ftl/schemes/fast.h"
#include "ftl/schemes/merge_plan.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// A cache of one size, the most recently used first.
class PlainCache {
public:
    explicit PlainCache(std::uint64_t size) : size_{size} {}
    double misses = 0;
    void use(std::uint32_t key, std::uint32_t weighs = 1) {
        const auto at = std::ranges::find(keys_, key, &Kept::key);
        if (at != keys_.end())
            keys_.erase(at);
        else
            ++misses;
        keys_.push_front({key, weighs});
        std::uint64_t all = 0;
        for (const Kept& kept : keys_) all += kept.weighs;
        for (; all > size_; keys_.pop_back()) all -= keys_.back().weighs;
    }

private:
    struct Kept {
        std::uint32_t key, weighs;
    };
    std::uint64_t size_;
    std::deque<Kept> keys_;
};

/// A log of one length as a queue of pages, with nothing left out.
class PlainLog {
public:
    explicit PlainLog(std::size_t pages) : most_{pages} {}
    double merges = 0;
    void write(std::uint32_t home, std::uint32_t offset) {
        if (queue_.size() == most_) {
            const Page oldest = queue_.front();
            queue_.pop_front();
            if (const auto live = live_.find(oldest.home);
                live != live_.end() && live->second.contains(oldest.offset) && live->second[oldest.offset] == oldest.written) {
                ++merges;
                live_.erase(live);
            }
        }
        queue_.push_back({home, offset, ++now_});
        live_[home][offset] = now_;
    }
    void merge(std::uint32_t home) { live_.erase(home); }

private:
    struct Page {
        std::uint32_t home, offset;
        std::uint64_t written;
    };
    std::size_t most_;
    std::uint64_t now_ = 0;
    std::deque<Page> queue_;
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> live_; ///< by logical block: newest versions that are logged
};

/// A few keys often, many seldom.
std::uint32_t skewed(Random& random, std::uint32_t keys) {
    return static_cast<std::uint32_t>(random.chance(3, 4) ? random.below(keys / 8) : random.below(keys));
}

SsdConfig divided(const char* scheme, std::uint64_t bytes, std::uint32_t share) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 80;
    if (scheme == std::string_view{"fast"}) shape.ftl.options.set(merge_option::log_blocks, 16);
    SsdConfig config = *shape_for(scheme, shape);
    config.nand.timing = test::round_timing;
    config.ftl.options.set(demand_option::mapping_cache_bytes, config.dram.size_bytes = bytes);
    config.dram.partition = "curve";
    config.dram.tune_interval = 50;
    config.dram.map_share_permille = share;
    return config;
}

void read(CutRig& rig, std::uint32_t unit) {
    std::vector<std::byte> to(rig.unit_bytes());
    rig.now = *rig.ssd().read(rig.sector(unit), rig.unit_bytes() / sector_bytes, to, rig.now);
}

} // namespace

TEST_CASE("with a record for each key the curve's misses are those of a cache of each size", "[cache][curve]") {
    const std::vector<std::uint64_t> sizes{0, 5, 5, 40, 200};
    ReuseCurve curve{sizes, 200};
    std::vector<PlainCache> caches{sizes.begin(), sizes.end()};
    Random random{7};
    for (int i = 0; i < 20'000; ++i) {
        const std::uint32_t key = skewed(random, 400);
        curve.write(key);
        for (PlainCache& cache : caches) cache.use(key);
        if (i % 1000 == 0) CHECK(curve.broken_invariant() == 0);
    }
    std::vector<MissCount> counts(sizes.size());
    CHECK(curve.take(counts) == 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(counts[i].writes == caches[i].misses);
    curve.take(counts); // they were taken
    CHECK(counts.back().writes == caches.back().misses);
}

TEST_CASE("where keys weigh differently, and change, the curve's misses are those of a cache of so many bytes", "[cache][curve]") {
    const std::vector<std::uint64_t> sizes{0, 100, 150, 1000, 6000};
    ReuseCurve curve{sizes, 400, {.least = 10, .keys = 400}};
    std::vector<PlainCache> caches{sizes.begin(), sizes.end()};
    Random random{7};
    for (int i = 0; i < 20'000; ++i) {
        const std::uint32_t key = skewed(random, 400);
        const auto weighs = static_cast<std::uint32_t>(10 + key % 40 + (random.chance(1, 50) ? random.below(200) : 0));
        curve.read(key, 1, true, weighs);
        for (PlainCache& cache : caches) cache.use(key, weighs);
        if (i % 1000 == 0) CHECK(curve.broken_invariant() == 0);
    }
    std::vector<MissCount> counts(sizes.size());
    CHECK(curve.take(counts) == 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(counts[i].reads == caches[i].misses);
    CHECK(counts[1].reads > 1.5 * counts[4].reads); // there is a curve
}

TEST_CASE("a sample of the keys says about the same, and keeps no more records than it may", "[cache][curve]") {
    const std::vector<std::uint64_t> sizes{1000, 4000, 10'000};
    ReuseCurve whole{sizes, 10'000}, sample{sizes, 1000};
    Random random{11};
    for (int i = 0; i < 200'000; ++i) {
        const std::uint32_t key = skewed(random, 20'000);
        whole.read(key, 1, true);
        sample.read(key, 1, true);
    }
    std::vector<MissCount> all(sizes.size()), some(sizes.size());
    whole.take(all);
    CHECK(sample.take(some) == Approx(10));
    CHECK(sample.records() <= 1000);
    CHECK(sample.broken_invariant() == 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(some[i].reads == Approx(all[i].reads).epsilon(0.1));
    CHECK(all[0].reads > 1.5 * all[2].reads); // there is a curve
}

TEST_CASE("what a cache does not take in becomes no younger than nowhere, and young where it is", "[cache][curve]") {
    const std::vector<std::uint64_t> sizes{1, 2};
    ReuseCurve curve{sizes, 2};
    curve.read(1, 1, false); // nowhere, and stays so
    curve.read(1, 1, false);
    curve.write(1);
    curve.write(2);
    curve.read(1, 1, false); // second of two, now first
    curve.write(3);          // 2 is forgotten
    curve.read(1, 1, false);
    std::vector<MissCount> counts(2);
    curve.take(counts);
    CHECK(counts[0].reads == 4);
    CHECK(counts[1].reads == 2);
    CHECK(counts[1].writes == 3);
}

TEST_CASE("with a record for each logical block the curve's merges are those of a log of each length", "[ftl][curve]") {
    const std::vector<std::uint64_t> lengths{3, 20, 60, 61, 200};
    LogCurve curve{lengths, 1u << 20};
    std::vector<PlainLog> logs{lengths.begin(), lengths.end()};
    Random random{5};
    std::vector<double> merges(lengths.size());
    for (int i = 0; i < 20'000; ++i) {
        const std::uint32_t home = skewed(random, 64), offset = static_cast<std::uint32_t>(random.below(8));
        curve.logged(LogicalBlock{home}, offset);
        for (PlainLog& log : logs) log.write(home, offset);
        if (i % 50 != 0) continue;
        curve.take(merges);
        const std::uint32_t switched = skewed(random, 64); // by the sequential log block
        curve.merged_for_all(LogicalBlock{switched});
        for (PlainLog& log : logs) log.merge(switched);
    }
    CHECK(curve.take(merges) == 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) CHECK(merges[i] == logs[i].merges);
    CHECK(merges.front() > 2 * merges.back());
}

TEST_CASE("where there is room for an eighth of the logical blocks the merges are about the same, and the room is kept to", "[ftl][curve]") {
    const std::vector<std::uint64_t> lengths{1000, 4000};
    LogCurve whole{lengths, 1u << 24}, sample{lengths, 8192};
    Random random{9};
    for (int i = 0; i < 100'000; ++i) {
        const LogicalBlock home{skewed(random, 2000)};
        const auto offset = static_cast<std::uint32_t>(random.below(8));
        whole.logged(home, offset);
        sample.logged(home, offset);
        if (i % 1000 == 0) CHECK(sample.bytes_used() <= 8192);
    }
    std::vector<double> all(2), some(2);
    whole.take(all);
    CHECK(sample.take(some) > 1);
    for (std::size_t i = 0; i < 2; ++i) CHECK(some[i] == Approx(all[i]).epsilon(0.2));
}

TEST_CASE("the share goes half of the way to where it costs least, and stays where little is to be gained or few were counted", "[cache][curve]") {
    const CurveTuner::Rules rules{.kept = 0, .min_gain = 0.05, .min_errors = 1};
    const ProfitFactors factors{.buffer_read = 1, .buffer_write = 10, .map_read = 2, .map_write = 5};
    const std::vector<MissCount> buffer{{0, 100}, {0, 100}, {0, 100}, {0, 120}, {0, 400}};
    const std::vector<MissCount> maps{{300, 0}, {250, 0}, {200, 0}, {50, 0}, {0, 0}};
    // 1600, 1500, 1400, 1300, 4000
    CurveTuner tuner{{0, 10, 20, 30, 40}, 0, rules};
    const auto d = tuner.decide({buffer, 1}, {maps, 1}, factors);
    CHECK(d.step == 2);
    CHECK(d.map_benefit == Approx(500 / 30.0)); // of the whole way
    CHECK(d.buffer_benefit == Approx(200 / 30.0));
    CHECK(tuner.decide({buffer, 1}, {maps, 1}, factors).step == 3);
    CHECK(tuner.decide({buffer, 1}, {maps, 1}, factors).step == 3);
    CurveTuner careful{{0, 10, 20, 30, 40}, 0, {.kept = 0, .min_gain = 0.2, .min_errors = 0}};
    CHECK(careful.decide({buffer, 1}, {maps, 1}, factors).step == 0); // 300 of 1600
    CurveTuner doubting{{0, 10, 20, 30, 40}, 0, rules};
    CHECK(doubting.decide({buffer, 1}, {maps, 100}, factors).step == 0); // two or three of the sample: the error is 316
    CurveTuner from_above{{0, 10, 20, 30, 40}, 4, rules};
    CHECK(from_above.decide({buffer, 1}, {maps, 1}, factors).step == 3);
}

TEST_CASE("a curve keeps what was counted before, what is long ago counting less", "[cache][curve]") {
    CurveTuner tuner{{0, 1}, 0, {.kept = 0.5, .min_gain = 0, .min_errors = 0}};
    const ProfitFactors factors{1, 1, 1, 1};
    const std::vector<MissCount> nothing(2), to_maps{{8, 0}, {0, 0}}, to_buffer{{0, 0}, {3, 0}};
    CHECK(tuner.decide({nothing, 1}, {to_maps, 1}, factors).step == 1);
    CHECK(tuner.decide({to_buffer, 1}, {nothing, 1}, factors).step == 1); // 4 of before against 3
    CHECK(tuner.decide({to_buffer, 1}, {nothing, 1}, factors).step == 0); // 2 against 4.5
}

TEST_CASE("a partition by curves follows the load: buffered rewrites shrink the maps, reads of many pages grow them", "[ssd][partition][curve]") {
    for (const char* scheme : {"dftl", "tpftl", "sftl", "leaftl", "learnedftl", "coftl"}) {
        CAPTURE(scheme);
        CutRig rig{divided(scheme, 8192, 500), Payload::none, UndoPolicy::none};
        const DramPartition& dram = *rig.ssd().partition();
        CHECK(dram.kind() == "curve");
        Random random{5};
        for (int i = 0; i < 4000; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(14)), 1);
        const double before = dram.map_share();
        CHECK(before < 0.4);
        // What was written in order is known by few bytes to sftl and leaftl, however little DRAM they have.
        const bool knows_order = scheme == std::string_view{"sftl"} || scheme == std::string_view{"leaftl"};
        for (std::uint32_t u = 0; u < rig.units(); ++u)
            rig.now = rig.write(knows_order ? static_cast<std::uint32_t>(random.below(rig.units())) : u, 1);
        for (int i = 0; i < 20'000; ++i) read(rig, static_cast<std::uint32_t>(random.below(rig.units())));
        CHECK(dram.map_share() > before);
        CHECK(dram.counters().to_map > 0);
        CHECK(dram.map_bytes() + dram.buffer_bytes() + dram.ghost_metadata_bytes() <= 8192);
        rig.require_sound();
    }
}

TEST_CASE("FAST's log blocks grow where pages are overwritten before a longer log's end", "[ssd][partition][curve]") {
    CutRig rig{divided("fast", 4096, 100)};
    const DramPartition& dram = *rig.ssd().partition();
    Random random{3};
    for (int i = 0; i < 4000; ++i) rig.now = rig.write(8 * static_cast<std::uint32_t>(random.below(24)) + 1, 1, WriteDurability::fua);
    CHECK(dram.counters().to_map > 0);
    rig.check_all();
}

TEST_CASE("as published a page of FAST that a merge took out of a log block, and that is written again, is a hit", "[ssd][partition]") {
    SsdConfig config = divided("fast", 4096, 100);
    config.dram.partition = "static";
    CutRig rig{config};
    auto& fast = dynamic_cast<FastFtl&>(rig.ftl());
    GhostBitmap ghost{1024, 1};
    ghost.set_capacity(512);
    fast.watch(ghost);
    const auto write = [&](std::uint32_t u) { rig.now = rig.write(u, 1, WriteDurability::fua); };
    write(9);
    for (std::uint32_t n = 0; ghost.size() == 0 && n < 400; ++n) write(8 * (2 + n % 40) + 1); // until its log block is reclaimed
    REQUIRE(ghost.holds(9));
    write(9);
    CHECK(ghost.hits().writes >= 1);
    const ProfitFactors f = fast.profit_factors();
    CHECK(f.map_write > 0);
    rig.check_all();
}
