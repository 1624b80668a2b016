/// What only hFTL promises; what every scheme does is in scheme_model_test.cpp and scheme_power_cut_test.cpp.
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

TEST_CASE("several groups, dies and planes behave as one and use multi-plane programs", "[ftl][hftl]") {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        SsdConfig config = tiny_config();
        config.nand.geometry.channels = 2;
        config.nand.geometry.dies_per_chip = 2;
        config.nand.geometry.blocks_per_plane = 12;
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{seed};
        for (int i = 0; i < 2500; ++i) {
            CAPTURE(seed, i);
            rig.step(random);
            if (i % 53 == 0) rig.require_sound();
        }
        rig.check_all();
        CHECK(rig.array().counters().multi_plane_programs > 0);
    }
}

TEST_CASE("clean shutdowns go on in the open blocks and use up no space", "[ftl][hftl]") {
    CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
    const std::uint32_t free_before = rig.ftl().space().free_blocks;
    rig.now = rig.write(0, 1);
    for (int i = 0; i < 5; ++i) {
        rig.remount_clean();
        rig.now = rig.write(0, 1);
    }
    CHECK(rig.ftl().space().free_blocks == free_before - 2);
}

TEST_CASE("hFTL has no volatile write cache: an answered write survives without a flush", "[ftl][hftl][crash]") {
    CutRig rig{tiny_config()};
    CHECK_FALSE(rig.ssd().identify().volatile_write_cache);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        rig.now = rig.write(static_cast<std::uint32_t>(seed), 1);
        rig.cut(rig.now, seed);
        CHECK_FALSE(rig.is_zero(static_cast<std::uint32_t>(seed)));
    }
}
