/// Collections keep pace with the host: none is made in one go while everybody waits, and dies do not wait for one another.
#include <algorithm>
#include <queue>

#include "ftl/schemes/demand_scheme.h"
#include "ftl/schemes/page_plan.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

struct Load {
    double seconds = 0;                  ///< of simulated time
    std::uint64_t most_copies = 0;       ///< between two requests
    std::uint32_t in_one_go = 0;         ///< requests that met twelve copies or more
    std::uint64_t most_map = 0, map = 0; ///< pages of checkpoints, and dftl's translation pages: between two requests, and in all
};

/// Random writes, 16 under way, on a drive that was filled and overwritten once.
Load random_writes(const std::string& scheme, std::uint32_t channels, std::uint32_t pages_per_block = 32) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.channels = channels;
    shape.nand.geometry.blocks_per_plane = 60;
    shape.nand.geometry.pages_per_block = pages_per_block;
    shape.ftl.reserved_permille = 250;
    CutRig rig{*shape_for(scheme, shape), Payload::none, UndoPolicy::none};
    Random random{17};
    const auto copies = [&] { return rig.array().counters().programs[static_cast<std::size_t>(Cause::gc)]; };
    const auto map_pages = [&] { return rig.array().counters().programs[static_cast<std::size_t>(Cause::map)]; };
    const auto write = [&](SimTime at) {
        rig.now = at;
        return rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
    };
    std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> under_way;
    for (int i = 0; i < 16; ++i) under_way.push(rig.now);
    const auto next = [&] {
        const SimTime at = under_way.top();
        under_way.pop();
        under_way.push(write(at));
        rig.settle();
        return at;
    };
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
    while (under_way.top() < rig.now) {
        under_way.pop();
        under_way.push(rig.now);
    }
    for (std::uint32_t i = 0; i < rig.units(); ++i) next();
    Load load;
    const SimTime begin = under_way.top();
    SimTime end = begin;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint64_t before = copies(), map_before = map_pages();
        end = next();
        load.most_copies = std::max(load.most_copies, copies() - before);
        load.in_one_go += copies() - before >= 12 ? 1 : 0;
        load.most_map = std::max(load.most_map, map_pages() - map_before);
        load.map += map_pages() - map_before;
    }
    load.seconds = static_cast<double>((end - begin).count()) / 1e9;
    return load;
}

} // namespace

TEST_CASE("page maps write almost as much faster as there are more channels, also while they collect", "[ftl]") {
    const std::string scheme = GENERATE("page_map", "hftl");
    CAPTURE(scheme);
    const Load one = random_writes(scheme, 1), four = random_writes(scheme, 4);
    CAPTURE(one.seconds, four.seconds);
    CHECK(one.seconds > 3 * four.seconds);
}

TEST_CASE("no write of a page map waits for a whole block's copies", "[ftl]") {
    const std::string scheme = GENERATE("page_map", "hftl"); // dftl compacts blocks of translation pages in one go
    CAPTURE(scheme);
    const Load load = random_writes(scheme, 1);
    CAPTURE(load.most_copies);
    CHECK(load.most_copies > 0);
    CHECK(load.most_copies < 6); // of the twenty or so that a victim holds
}

TEST_CASE("few writes of a scheme with its map on flash meet a collection in one go, though the map takes blocks when it will", "[ftl]") {
    const std::string scheme = GENERATE("dftl", "tpftl", "sftl");
    const std::uint32_t channels = GENERATE(1u, 2u, 4u);
    CAPTURE(scheme, channels);
    const Load load = random_writes(scheme, channels, 64);
    CHECK(load.most_copies > 0);
    CHECK(load.in_one_go < 20); // of two thousand
}

TEST_CASE("no write of a page map waits for a whole checkpoint", "[ftl]") {
    const Load load = random_writes("page_map", 1);
    CAPTURE(load.map);
    CHECK(load.map > 25); // one, at least, of the 28 pages that the map takes
    CHECK(load.most_map < 5);
}

TEST_CASE("reads one after the other do not meet a checkpoint, which goes with writes and once the host is quiet", "[ftl]") {
    const std::string scheme = GENERATE("page_map", "dftl");
    CAPTURE(scheme);
    SsdConfig shape = tiny_config();
    shape.nand.geometry.channels = 4;
    shape.nand.geometry.blocks_per_plane = 60;
    shape.nand.geometry.pages_per_block = 32;
    shape.nand.timing = test::round_timing;
    shape.ftl.reserved_permille = 250;
    shape.ftl.options.set(page_option::checkpoint_blocks, 40);
    shape.ftl.options.set(demand_option::mapping_cache_bytes, 1u << 20); // dftl: it reads no translation page
    CutRig rig{*shape_for(scheme, shape), Payload::none, UndoPolicy::none};
    const auto map_pages = [&] { return rig.array().counters().programs[static_cast<std::size_t>(Cause::map)]; };
    const std::uint64_t before = map_pages();
    std::uint32_t unit = 0;
    for (; map_pages() == before; ++unit) {
        REQUIRE(unit < rig.units());
        rig.now = rig.write(unit, 1);
    }
    rig.now += Duration{2'000'000}; // what the last write brought with it has ended
    const std::uint64_t begun = map_pages();
    Duration longest{0};
    for (std::uint32_t i = 0; i < 400; ++i) {
        (void)rig.ssd().tick(rig.now);
        const auto done = rig.ssd().read(rig.sector(i % unit), static_cast<std::uint32_t>(rig.sector(1).value()), {}, rig.now);
        REQUIRE(done.has_value());
        longest = std::max(longest, *done - rig.now);
        rig.now = *done;
    }
    CHECK(map_pages() == begun);
    CHECK(longest < shape.nand.timing.page_program);
    for (int i = 0; i < 100; ++i) {
        rig.now += Duration{20'000'000};
        (void)rig.ssd().tick(rig.now);
    }
    CHECK(map_pages() > begun); // it was under way all the time
}

TEST_CASE("no write of dftl waits for the translation pages of all that a collection moved", "[ftl][dftl]") {
    // With one group's room for deferred entries a collection that is made in one go may find it full.
    const auto [channels, at_most] = GENERATE(table<std::uint32_t, std::uint64_t>({{1u, 24u}, {2u, 12u}}));
    CAPTURE(channels);
    const Load load = random_writes("dftl", channels, 64);
    CAPTURE(load.map);
    CHECK(load.map > 1000);
    CHECK(load.most_map < at_most); // of the fifty or hundred that hold the entries of what was moved
}
