/// hFTL against a reference model: every page shows its newest version, and every invariant holds, under writes, trims, flushes, collections, mounts.
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

void run_random(CutRig& rig, std::uint64_t seed, int steps, int check_every) {
    Random random{seed};
    for (int i = 0; i < steps; ++i) {
        CAPTURE(seed, i);
        rig.step(random);
        if (i % check_every == 0) rig.require_sound();
    }
    rig.check_all();
}

} // namespace

TEST_CASE("a new device reads zeros everywhere and is sound", "[ftl]") {
    CutRig rig{tiny_config()};
    CHECK(rig.last_was_clean);
    rig.check_all();
}

TEST_CASE("random writes, trims and pauses on a tiny device keep every newest version and every invariant after each operation", "[ftl]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
        run_random(rig, seed, 1200, 2);
        CHECK(rig.ssd().ftl().counters().gc_page_copies > 0);
    }
}

TEST_CASE("several groups, dies and planes behave as one", "[ftl]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SsdConfig config = tiny_config();
        config.nand.geometry.channels = 2;
        config.nand.geometry.dies_per_chip = 2;
        config.nand.geometry.blocks_per_plane = 12;
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        run_random(rig, seed, 2500, 53);
        CHECK(rig.array().counters().multi_plane_programs > 0);
    }
}

TEST_CASE("a mapping unit of two and four pages is written and read as a whole", "[ftl]") {
    const std::uint32_t unit = GENERATE(2u, 4u);
    CAPTURE(unit);
    SsdConfig config = tiny_config();
    config.ftl.mapping_unit_pages = unit;
    config.nand.geometry.pages_per_block = 16;
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    CHECK(rig.ssd().identify().atomic_unit_bytes == unit * 512);
    run_random(rig, 7, 2000, 5);
}

TEST_CASE("blocks of 70 units, more than a word of bits, are kept apart", "[ftl]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.pages_per_block = 70;
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    run_random(rig, 11, 4000, 101);
}

TEST_CASE("a device filled to the last page takes ten fills of random overwrites", "[ftl]") {
    SsdConfig config = tiny_config();
    const bool uneven = GENERATE(false, true);
    const std::uint32_t planes = GENERATE(1u, 2u, 4u);
    CAPTURE(uneven, planes);
    config.nand.geometry.planes_per_die = planes;
    config.nand.geometry.channels = 2;
    config.nand.geometry.blocks_per_plane = 14;
    config.ftl.reserved_permille = 0;
    if (uneven) config.nand.factory_bad_per_million = 120'000;
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    Random random{99};
    for (std::uint32_t u = 0; u < rig.units(); ++u) rig.now = rig.write(u, 1);
    rig.check_all();
    for (std::uint32_t i = 0; i < 10 * rig.units(); ++i) {
        rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
        if (i % 5 == 0) (void)rig.ssd().tick(rig.now);
        if (i % 499 == 0) {
            rig.require_sound();
            rig.ssd().settle(rig.now);
        }
    }
    rig.check_all();
}

TEST_CASE("a full device goes on when all overwrites go to a few pages", "[ftl]") {
    CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, rig.units());
    for (std::uint32_t i = 0; i < 3000; ++i) {
        rig.now = rig.write(i % 3, 1);
        if (i % 50 == 0) rig.require_sound();
    }
    rig.check_all();
}

TEST_CASE("clean shutdowns keep everything, go on in the open blocks and use up no space", "[ftl]") {
    CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
    Random random{5};
    const std::uint32_t free_before = rig.ssd().ftl().space().free_blocks;
    rig.now = rig.write(0, 1);
    for (int i = 0; i < 5; ++i) {
        rig.remount_clean();
        rig.now = rig.write(0, 1);
    }
    CHECK(rig.ssd().ftl().space().free_blocks == free_before - 2);
    for (int i = 0; i < 40; ++i) {
        for (int k = 0; k < 40; ++k) rig.step(random);
        rig.remount_clean();
        rig.check_all();
    }
}

TEST_CASE("a killed process loses nothing that was issued", "[ftl]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
        Random random{seed};
        for (int i = 0; i < 12; ++i) {
            for (std::uint64_t k = random.below(60); k > 0; --k) rig.step(random);
            rig.kill();
        }
    }
}

TEST_CASE("a relocated block is free afterwards and its pages keep their content", "[ftl]") {
    CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, rig.units() / 2);
    auto& ftl = const_cast<Ftl&>(rig.ssd().ftl());
    for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) {
        const bool held_data = ftl.status_of(BlockId{b}).use == BlockUse::data;
        const auto moved = ftl.relocate(BlockId{b}, rig.now);
        REQUIRE(moved.has_value());
        rig.now = *moved;
        if (held_data) CHECK(ftl.status_of(BlockId{b}).use != BlockUse::data);
        rig.check_all();
    }
}
