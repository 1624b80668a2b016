/// What page_map and dftl have of their own: bounded recovery, bytes of checkpoints and trims, victim policies.
#include <algorithm>

#include "ftl/blocks/victim_policies.h"
#include "ftl/recovery/page_checkpoint.h"
#include "ftl/recovery/trim_log.h"
#include "ftl/schemes/page_plan.h"
#include "tests/support/bytes.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::bytes;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

/// Of so many planes a die, with spare to choose from.
SsdConfig roomy_config(const std::string& scheme, std::uint32_t planes, std::uint32_t blocks_per_plane, std::uint32_t reserved_permille) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = planes;
    shape.nand.geometry.blocks_per_plane = blocks_per_plane;
    shape.ftl.reserved_permille = reserved_permille;
    return *shape_for(scheme, shape);
}

/// Every page written once: collections come at once.
void fill(CutRig& rig) {
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
}

/// 25 cuts, half of them with another in the recovery, after so many steps each at most.
void step_and_cut(CutRig& rig, Random& random, std::uint64_t steps) {
    for (int c = 0; c < 25; ++c) {
        CAPTURE(c);
        const SimTime from = rig.now;
        rig.settle();
        for (std::uint64_t k = 1 + random.below(steps); k > 0; --k) rig.step(random);
        if (random.chance(1, 2))
            rig.cut_twice(rig.random_moment(random, from), random);
        else
            rig.cut(rig.random_moment(random, from), random.next());
    }
}

} // namespace

TEST_CASE("recovery reads at most the first page of each block and the blocks opened since the checkpoint", "[ftl][recovery]") {
    const std::string scheme = GENERATE("page_map", "dftl");
    SsdConfig shape = tiny_config();
    shape.nand.geometry.blocks_per_plane = 100;
    shape.ftl.options.set(page_option::checkpoint_blocks, 8);
    const SsdConfig config = *shape_for(scheme, shape);
    CAPTURE(scheme);
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    Random random{4};
    std::uint64_t most = 0;
    for (int c = 0; c < 30; ++c) {
        for (std::uint64_t k = random.below(200); k > 0; --k) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
        rig.kill();
        most = std::max(most, rig.array().counters().reads[static_cast<std::size_t>(Cause::recovery)]);
    }
    // Eight blocks between checkpoints, what was open at the last one, and what one request and one collection opened before the next was due.
    const std::uint64_t blocks = rig.geometry().blocks();
    const std::uint64_t translation = scheme == "dftl" ? (rig.units() * 4 + 511) / 512 : 0;
    const std::uint64_t ring = 6 * 8;
    CHECK(most <= blocks + (8 + 10) * (8 + 1) + translation + ring);
    CHECK(most > blocks / 2);
}

TEST_CASE("power cuts with a checkpoint after every other block keep the contract", "[ftl][crash][recovery]") {
    const std::string scheme = GENERATE("page_map", "dftl");
    SsdConfig shape = tiny_config();
    shape.ftl.options.set(page_option::checkpoint_blocks, 2);
    const SsdConfig config = *shape_for(scheme, shape);
    for (std::uint64_t seed = 901; seed <= 906; ++seed) {
        CAPTURE(scheme, seed);
        CutRig rig{config};
        Random random{seed};
        step_and_cut(rig, random, 60);
    }
}

TEST_CASE("every victim policy keeps every version, also across cuts", "[ftl][blocks]") {
    for (const auto& policy : victim_policies()) {
        SsdConfig shape = tiny_config();
        shape.ftl.victim = std::string{policy.name};
        const SsdConfig config = *shape_for("page_map", shape);
        CAPTURE(shape.ftl.victim);
        CutRig rig{config};
        Random random{31};
        for (int c = 0; c < 12; ++c) {
            const SimTime from = rig.now;
            rig.settle();
            for (int k = 0; k < 60; ++k) rig.step(random);
            rig.cut(rig.random_moment(random, from), random.next());
        }
        CHECK(rig.ftl().counters().gc_jobs < 1000);
    }
    SsdConfig config = tiny_config();
    config.ftl.victim = "best";
    CHECK(plan_ftl(config, *Geometry::make(config.nand.geometry)).error().find("cost-benefit") != std::string::npos);
}

TEST_CASE("the policies answer as their papers say", "[blocks]") {
    const auto geometry = *Geometry::make(tiny_config().nand.geometry);
    FullBlocks full{UnitGeometry{geometry, 1}};
    const auto choose = [&full](std::string_view name) { return make_victim_policy(name, {}, 5)->choose(full, PlaneId{0}); };
    for (const auto& policy : victim_policies()) CHECK_FALSE(choose(policy.name).has_value());
    full.add(BlockId{1}, 8); // wholly valid: nothing to gain
    for (const auto& policy : victim_policies()) CHECK_FALSE(choose(policy.name).has_value());
    full.add(BlockId{2}, 6);
    full.add(BlockId{3}, 5);
    CHECK(choose("greedy")->block == BlockId{3});
    CHECK(choose("d-choices")->block == BlockId{3}); // ten draws see both
    CHECK(choose("fifo")->block == BlockId{2});
    // Benefit over cost: block 2 gains 2 of 6 at age a, block 3 gains 3 of 5 at age b: 2a/12 against 3b/10.
    for (int i = 0; i < 4; ++i) {
        full.remove(BlockId{3});
        full.add(BlockId{3}, 5);
    }
    CHECK(choose("cost-benefit")->block == BlockId{2});
    CHECK(choose("greedy")->block == BlockId{3});
    full.update(BlockId{3}, 0);
    CHECK(choose("cost-benefit")->block == BlockId{3}); // empty beats everything
}

TEST_CASE("a checkpoint's head and a trim record have the bytes that ftl/FORMAT.md says", "[ftl][format]") {
    auto config = tiny_config().nand.geometry;
    const UnitGeometry units{*Geometry::make(config), 1};
    const PageCheckpointShape shape{0x6567'6170, 96, 20};
    PageCheckpoint c;
    c.next_sequence = 0x0102030405;
    c.next_stamp = 9;
    c.open.push_back({GroupId{0}, FrontierId{1}, 3, 8, {BlockId{4}, BlockId{14}}});
    const auto part = bytes({0xaa, 0xbb});
    std::vector<std::byte> raw;
    c.encode(shape, units, part, raw);
    CHECK(raw == bytes({0x50, 0x47, 0x43, 0x4b, 1, 0, 1, 0, 96, 0, 0, 0, 20, 0, 0, 0,    8,    0,    0,    0, 0, 0, 0,  0, 5, 4, 3,    2,   1,
                        0,    0,    0,    9,    0, 0, 0, 1, 0,  0, 0, 0, 0,  0, 0, 0x70, 0x61, 0x67, 0x65, 2, 0, 0, 0,  0, 0, 0, 0,    0,   0,
                        0,    0,    1,    0,    0, 0, 3, 0, 0,  0, 8, 0, 0,  0, 2, 0,    0,    0,    4,    0, 0, 0, 14, 0, 0, 0, 0xaa, 0xbb}));
    const auto back = PageCheckpoint::decode(shape, units, raw);
    REQUIRE(back.has_value());
    CHECK(back->head == c);
    CHECK(std::ranges::equal(back->scheme_part, part));
    for (std::size_t length = 0; length < raw.size(); ++length)
        CHECK_FALSE(PageCheckpoint::decode(shape, units, std::span{raw}.first(length)).has_value());
    CHECK_FALSE(PageCheckpoint::decode({shape.tag + 1, 96, 20}, units, raw).has_value());
    CHECK_FALSE(PageCheckpoint::decode({shape.tag, 97, 20}, units, raw).has_value());

    PendingTrims trims;
    trims.add({Lpn{5}, 3, WriteSequence{7}});
    trims.add({Lpn{8}, 2, WriteSequence{8}}); // grows the first: nothing was written between them
    trims.add({Lpn{10}, 1, WriteSequence{10}});
    trims.encode(raw);
    CHECK(raw == bytes({5, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0}));
    TrimHistory history;
    CHECK(history.add_record(raw));
    CHECK_FALSE(history.add_record(std::span{raw}.first(20)));
}

TEST_CASE("of overlapping trims the last one of each page counts", "[ftl][format]") {
    TrimHistory history;
    std::vector<std::uint64_t> last(64);
    Random random{9};
    for (std::uint64_t s = 1; s <= 300; ++s) {
        const auto first = static_cast<std::uint32_t>(random.below(60));
        const auto pages = static_cast<std::uint32_t>(1 + random.below(64 - first));
        history.add({Lpn{first}, pages, WriteSequence{s}});
        for (std::uint32_t i = first; i < first + pages; ++i) last[i] = s;
        for (std::uint32_t i = 0; i < 64; ++i) {
            const auto trim = history.last_trim(Lpn{i});
            REQUIRE((trim ? trim->value() : 0) == last[i]);
        }
    }
    CHECK_FALSE(history.last_trim(Lpn{64}).has_value());
}

// Erased before the record has ended, the block would leave an older version as the newest one on flash.
TEST_CASE("a block with a trimmed page's newest version is not erased while the record of the trim is under way", "[ftl][crash][recovery]") {
    for (const char* scheme : {"page_map", "dftl"}) {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            CAPTURE(scheme, seed);
            SsdConfig config = tiny_config();
            config.ftl.scheme = scheme;
            CutRig rig{config};
            rig.now = rig.write(0, 16); // two blocks
            rig.now = rig.write(20, 1); // on the first plane, where the record will be
            rig.now = rig.write(0, 1);  // the newest version: on the second one
            rig.now = rig.flush();      // the older one must not be seen again
            rig.settle();
            rig.now = rig.trim(0, 1);
            const SimTime flushed = rig.flush();
            const SimTime from = rig.now + Duration{1};
            for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) {
                const BlockStatus status = rig.ftl().status_of(BlockId{b});
                if (status.use == BlockUse::open && status.valid_pages == 0 && rig.array().write_pointer(BlockId{b}) != 0)
                    REQUIRE(rig.ftl().relocate(BlockId{b}, from).has_value());
            }
            rig.cut(flushed - Duration{2000}, seed);
        }
    }
}

TEST_CASE("on a full drive the host's pages still go to every plane of a die", "[ftl]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::uint32_t planes = GENERATE(2u, 4u);
    CAPTURE(scheme, planes);
    CutRig rig{roomy_config(scheme, planes, 100, 150), Payload::keep, UndoPolicy::none};
    fill(rig);
    Random random{9};
    std::uint64_t writes = 0, to_every_plane = 0;
    for (std::uint32_t i = 0; i < rig.units(); ++i) {
        rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
        if (i < rig.units() / 2) continue;
        std::vector<bool> open(planes);
        for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b)
            if (rig.ftl().status_of(BlockId{b}).use == BlockUse::open) open.at(rig.geometry().plane_of(BlockId{b}).value()) = true;
        ++writes;
        to_every_plane += std::ranges::count(open, true) == planes ? 1 : 0;
    }
    CHECK(to_every_plane * 10 >= writes * 9);
}

TEST_CASE("power cuts on a drive with spare enough to keep a row of planes free keep the contract", "[ftl][crash][recovery]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::uint32_t planes = GENERATE(2u, 4u);
    const SsdConfig config = roomy_config(scheme, planes, 24, 500);
    for (std::uint64_t seed = 951; seed <= 953; ++seed) {
        CAPTURE(scheme, planes, seed);
        CutRig rig{config};
        Random random{seed};
        fill(rig);
        step_and_cut(rig, random, 150);
    }
}
