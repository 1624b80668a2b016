/// Every scheme against the reference model: each page shows its newest version, and each invariant holds, under writes, trims, flushes, collections,
/// mounts.
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::on_every_scheme_and_shape;
using flashlab::test::tiny_config;

namespace {

void run_random(CutRig& rig, std::uint64_t seed, int steps, int check_every) {
    Random random{seed};
    for (int i = 0; i < steps; ++i) {
        CAPTURE(seed, i);
        rig.step(random);
        if (i % check_every == 0) rig.require_sound();
        if (i % 64 == 0) rig.settle();
    }
    rig.check_all();
}

/// Copies made to gain space, whatever the scheme calls it.
std::uint64_t reclaiming(const Ftl& ftl) {
    const CounterValues own = own_counters(ftl);
    return ftl.counters().gc_page_copies + own["switch_merges"] + own["partial_merges"] + own["full_merges"];
}

} // namespace

TEST_CASE("a new device reads zeros everywhere and is sound", "[ftl][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        CutRig rig{config};
        CHECK(rig.last_was_clean);
        rig.check_all();
    });
}

TEST_CASE("random writes, trims and pauses keep every newest version and every invariant", "[ftl][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            run_random(rig, seed, 1000, 7);
            CHECK(reclaiming(rig.ftl()) > 0);
        }
    });
}

TEST_CASE("every invariant holds after each single operation", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        run_random(rig, 3, 1200, 1);
    });
}

TEST_CASE("a mapping unit of two and four pages is written and read as a whole", "[ftl][scheme]") {
    const std::uint32_t unit = GENERATE(2u, 4u);
    SsdConfig shape = tiny_config();
    shape.ftl.mapping_unit_pages = unit;
    shape.nand.geometry.pages_per_block = 16;
    on_every_scheme(shape, [unit](const SsdConfig& config) {
        CAPTURE(unit);
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        CHECK(rig.ssd().identify().atomic_unit_bytes % (unit * 512) == 0);
        run_random(rig, 7, 1500, 5);
    });
}

TEST_CASE("blocks of 70 units, more than a word of bits, are kept apart", "[ftl][scheme]") {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.pages_per_block = 70;
    on_every_scheme(shape, [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        run_random(rig, 11, 4000, 101);
    });
}

TEST_CASE("a device filled to the last page takes ten fills of random overwrites", "[ftl][scheme]") {
    SsdConfig shape = tiny_config();
    const bool uneven = GENERATE(false, true);
    const std::uint32_t planes = GENERATE(1u, 2u, 4u);
    shape.nand.geometry.planes_per_die = planes;
    shape.nand.geometry.channels = 2;
    shape.nand.geometry.blocks_per_plane = 14;
    shape.ftl.reserved_permille = 0;
    if (uneven) shape.nand.factory_bad_per_million = 120'000;
    on_every_scheme(shape, [&](const SsdConfig& config) {
        CAPTURE(uneven, planes);
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{99};
        for (std::uint32_t u = 0; u < rig.units(); ++u) rig.now = rig.write(u, 1);
        rig.check_all();
        for (std::uint32_t i = 0; i < 10 * rig.units(); ++i) {
            rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
            if (i % 5 == 0) (void)rig.ssd().tick(rig.now);
            if (i % 499 == 0) {
                rig.require_sound();
                rig.settle();
            }
        }
        rig.check_all();
    });
}

TEST_CASE("a full device goes on when all overwrites go to a few pages", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        rig.now = rig.write(0, rig.units());
        for (std::uint32_t i = 0; i < 3000; ++i) {
            rig.now = rig.write(i % 3, 1);
            if (i % 50 == 0) rig.require_sound();
        }
        rig.check_all();
    });
}

TEST_CASE("a device filled from end to end again and again shows the last fill", "[ftl][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        for (int fill = 0; fill < 4; ++fill) {
            for (std::uint32_t u = 0; u < rig.units();) {
                const std::uint32_t count = std::min(rig.units() - u, 1u + (u + static_cast<std::uint32_t>(fill)) % 9);
                rig.now = rig.write(u, count);
                u += count;
            }
            rig.check_all();
        }
    });
}

TEST_CASE("clean shutdowns keep everything", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        Random random{5};
        for (int i = 0; i < 40; ++i) {
            for (int k = 0; k < 40; ++k) rig.step(random);
            rig.remount_clean();
            rig.check_all();
        }
    });
}

TEST_CASE("a killed process loses nothing that was promised", "[ftl][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            CAPTURE(seed);
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            Random random{seed};
            for (int i = 0; i < 12; ++i) {
                for (std::uint64_t k = random.below(60); k > 0; --k) rig.step(random);
                rig.kill();
            }
        }
    });
}

TEST_CASE("a relocated block is free afterwards and its pages keep their content", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        rig.now = rig.write(0, rig.units() / 2);
        for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) {
            CAPTURE(b);
            const bool held_data = rig.ftl().status_of(BlockId{b}).use == BlockUse::data;
            const auto moved = rig.ftl().relocate(BlockId{b}, rig.now);
            REQUIRE(moved.has_value());
            rig.now = *moved;
            if (held_data) CHECK(rig.ftl().status_of(BlockId{b}).use != BlockUse::data);
            rig.check_all();
        }
    });
}
