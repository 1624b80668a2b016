/// COFTL's switches: a replacement set that holds all that is valid takes the primary's place, and nothing is copied.
#include <string>
#include <utility>

#include "ftl/schemes/coftl.h"

#include "tests/support/coftl_shape.h"

using namespace flashlab;
using flashlab::test::coftl_config;
using flashlab::test::CutRig;
using flashlab::test::own;
using flashlab::test::Shape;
using flashlab::test::shapes;
using flashlab::test::two_wide;

TEST_CASE("a replacement set that holds all that is valid becomes the primary, and nothing is copied", "[ftl][coftl]") {
    CutRig rig{coftl_config(two_wide()), Payload::keep, UndoPolicy::none};
    const std::uint32_t free_before = rig.ftl().space().free_blocks;
    const auto programs = [&](Cause cause) { return rig.array().counters().programs[static_cast<std::size_t>(cause)]; };
    rig.now = rig.write(0, 6);
    const std::uint64_t map_before = programs(Cause::map);
    for (const std::uint32_t p : {5u, 3u, 1u, 4u, 0u}) rig.now = rig.write(p, 1);
    CHECK(own(rig).switches == 0); // page 2 is in the old primary
    rig.now = rig.write(2, 1);
    CHECK(own(rig).switches == 1);
    CHECK(own(rig).merges == 0);
    CHECK(programs(Cause::map) - map_before == 3); // a replacement page, the record of the switch, a summary page
    CHECK(rig.ftl().space().free_blocks == free_before - 2);
    rig.check_all();
    rig.remount_clean();
    rig.check_all();
    for (const std::uint32_t p : {0u, 1u, 2u, 3u, 4u, 4u}) rig.now = rig.write(p, 1);
    for (const std::uint32_t p : {5u, 0u}) rig.now = rig.write(p, 1); // all six, but over the page sets of summaries
    CHECK(own(rig).switches == 0);
    rig.check_all();
}

TEST_CASE("a chain with room left in its last set is switched when it is cleaned, but copied when a block of that set must be left", "[ftl][coftl]") {
    const bool leaves = GENERATE(false, true);
    CAPTURE(leaves);
    CutRig rig{coftl_config(two_wide(0, 1)), Payload::keep, UndoPolicy::none};
    rig.now = rig.write(0, 3);
    rig.now = rig.write(6, 1); // the only table leaves: what it told of is committed
    rig.now = rig.write(0, 3); // all that is valid, in a replacement set
    if (leaves) {
        std::uint32_t b = 0;
        while (rig.ftl().status_of(BlockId{b}).valid_pages != 3) ++b;
        REQUIRE(rig.ftl().relocate(BlockId{b}, rig.now).has_value());
    }
    for (std::uint32_t vb = 2; !leaves && own(rig).switches + own(rig).merges == 0; vb = vb % 8 + 1)
        for (std::uint32_t p = 0; p < 2; ++p) rig.now = rig.write(vb * 6 + p, 1);
    CHECK(own(rig).switches == (leaves ? 0 : 1));
    CHECK(own(rig).merges == (leaves ? 1 : 0));
    rig.check_all();
}

TEST_CASE("a set in which a program failed does not become a primary", "[ftl][coftl]") {
    struct Failing final : NandFaults {
        bool program_fails(Ppn) override { return std::exchange(fails, false); }
        bool erase_fails(BlockId) override { return false; }
        bool fails = false;
    } faults;
    CutRig rig{coftl_config(two_wide()), Payload::keep, UndoPolicy::none};
    rig.set_faults(&faults);
    rig.now = rig.write(0, 3);
    for (std::uint32_t i = 0; i < 4; ++i) rig.now = rig.write(i % 3, 1); // the primary has one page set left
    for (std::uint32_t i = 0; i < 2; ++i) rig.now = rig.write(i, 1);
    REQUIRE(own(rig).commits == 1);
    rig.now = rig.write(2, 1); // now all that is valid is in the replacement set
    const std::uint64_t switches = own(rig).switches;
    faults.fails = true;
    rig.now = rig.write(5, 1);
    CHECK(own(rig).switches == switches);
    CHECK(own(rig).merges == 1);
    CHECK(rig.ftl().space().bad_blocks == 1);
    rig.check_all();
}

TEST_CASE("overwrites in order keep the contract across power cuts, while chains are switched", "[ftl][coftl][crash]") {
    std::uint64_t switches = 0;
    for (const Shape& shape : shapes()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            CAPTURE(shape.channels, shape.width, shape.slots, shape.tables, seed);
            CutRig rig{coftl_config(shape)};
            Random random{seed};
            std::uint32_t at = 0;
            for (int c = 0; c < 12; ++c) {
                CAPTURE(c);
                const SimTime from = rig.now;
                rig.settle();
                const std::uint64_t before = own(rig).switches;
                for (std::uint64_t k = 1 + random.below(3 * rig.units() / 2); k > 0; --k) {
                    rig.now = random.chance(1, 40) ? rig.trim(at, 1) : random.chance(1, 12) ? rig.flush() : rig.write(at, 1);
                    at = random.chance(1, 60) ? at - at % 6 : (at + 1) % rig.units();
                }
                switches += own(rig).switches - before;
                rig.cut_once_or_twice(rig.random_moment(random, from), random);
            }
            rig.check_all();
        }
    }
    CHECK(switches > 500);
}
