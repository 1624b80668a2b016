/// The contract C1..C4, C6, C7 of the crash model for every scheme, on tiny devices, at random instants and outcomes.
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::on_every_scheme_and_shape;
using flashlab::test::tiny_config;

namespace {

/// Cuts in a row on one device: `steps` requests at most, then the power fails between the first of them and the last reserved end.
void torture(const SsdConfig& config, std::uint64_t seed, int cuts, std::uint64_t steps, bool twice) {
    CutRig rig{config};
    Random random{seed};
    for (int c = 0; c < cuts; ++c) {
        CAPTURE(seed, c);
        const SimTime from = rig.now;
        rig.settle();
        for (std::uint64_t k = 1 + random.below(steps); k > 0; --k) rig.step(random);
        const SimTime at = rig.random_moment(random, from);
        if (twice && random.chance(1, 2))
            rig.cut_twice(at, random);
        else
            rig.cut(at, random.next());
    }
    rig.check_all();
}

} // namespace

TEST_CASE("after a power cut every page shows its newest durable version or a later one, never anything else", "[ftl][crash][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) torture(config, seed, 25, 60, false);
    });
}

TEST_CASE("a power cut in the middle of recovery changes nothing of the contract", "[ftl][crash][scheme]") {
    on_every_scheme_and_shape([](const SsdConfig& config) {
        for (std::uint64_t seed = 101; seed <= 103; ++seed) torture(config, seed, 25, 60, true);
    });
}

TEST_CASE("hundreds of power cuts after a request or two leak no block and leave a writable device", "[ftl][crash][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 201; seed <= 203; ++seed) torture(config, seed, 120, 3, true);
    });
}

TEST_CASE("power cuts with mapping units of several pages never show half a unit", "[ftl][crash][scheme]") {
    SsdConfig shape = tiny_config();
    shape.ftl.mapping_unit_pages = GENERATE(2u, 4u);
    shape.nand.geometry.pages_per_block = 16;
    on_every_scheme(shape, [](const SsdConfig& config) {
        for (std::uint64_t seed = 401; seed <= 405; ++seed) torture(config, seed, 25, 60, true);
    });
}

TEST_CASE("power cuts with two-byte PRAM words and slow PRAM keep the contract", "[ftl][crash][scheme]") {
    SsdConfig shape = tiny_config();
    shape.pram.word_bytes = 2;
    shape.pram.word_write = Duration{10'000};
    on_every_scheme(shape, [](const SsdConfig& config) {
        for (std::uint64_t seed = 501; seed <= 505; ++seed) torture(config, seed, 25, 60, true);
    });
}

TEST_CASE("power cuts on a device that is full and has no spare but what is needed keep the contract and never lock it up", "[ftl][crash][scheme]") {
    SsdConfig shape = tiny_config();
    shape.ftl.reserved_permille = 0;
    on_every_scheme(shape, [](const SsdConfig& config) {
        for (std::uint64_t seed = 601; seed <= 606; ++seed) {
            CAPTURE(seed);
            CutRig rig{config};
            Random random{seed};
            rig.now = rig.write(0, rig.units());
            rig.now = rig.flush();
            for (int c = 0; c < 30; ++c) {
                CAPTURE(c);
                const SimTime from = rig.now;
                rig.settle();
                for (std::uint64_t k = 1 + random.below(12); k > 0; --k) {
                    const SimTime done = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
                    if (random.chance(1, 2)) rig.now = done;
                }
                rig.cut(rig.random_moment(random, from), random.next());
            }
        }
    });
}

TEST_CASE("a page trimmed and flushed stays zero, whatever older versions the open blocks hold", "[ftl][crash][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 701; seed <= 760; ++seed) {
            CAPTURE(seed);
            CutRig rig{config};
            Random random{seed};
            for (int i = 0; i < 6; ++i) rig.now = rig.write(3, 1);
            rig.now = rig.write(0, 1 + static_cast<std::uint32_t>(random.below(20)));
            rig.now = rig.trim(3, 1);
            rig.now = rig.flush();
            if (random.chance(1, 2)) (void)rig.write(5, 4);
            rig.cut(rig.random_moment(random, rig.now), random.next());
            CHECK(rig.is_zero(3));
        }
    });
}

TEST_CASE("what was flushed, or written with FUA, survives the next cut whatever follows it", "[ftl][crash][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 801; seed <= 840; ++seed) {
            CAPTURE(seed);
            CutRig rig{config};
            Random random{seed};
            rig.now = rig.write(0, 1 + static_cast<std::uint32_t>(random.below(12)));
            if (random.chance(1, 2)) rig.now = rig.flush();
            rig.now = rig.write(2, 1, WriteDurability::fua);
            const SimTime from = rig.now;
            for (std::uint64_t k = random.below(30); k > 0; --k) rig.step(random);
            rig.cut(rig.random_moment(random, from), random.next());
        }
    });
}
