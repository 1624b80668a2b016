/// COFTL on chips with two-plane commands (CO12): page sets on pairs of planes, and what that gains.
#include <algorithm>

#include "ftl/blocks/block_sets.h"
#include "ftl/make_ftl.h"
#include "tests/support/coftl_shape.h"

using namespace flashlab;
using flashlab::test::coftl_config;
using flashlab::test::cut_often;
using flashlab::test::CutRig;
using flashlab::test::own;
using flashlab::test::Shape;

namespace {

SsdConfig paired(const Shape& shape) {
    SsdConfig config = coftl_config(shape); // two planes a die
    config.nand.options.two_plane = true;
    return config;
}

/// Width 2 on one channel, 4 on two, 2 on each of two, 8 on four: half as many channels as blocks.
std::vector<Shape> two_plane_shapes() { return {{1, 2, 0, 1}, {1, 2, 3, 2}, {2, 4, 0, 2}, {2, 2, 4, 1}, {4, 8, 2, 3}}; }

class FailSome final : public NandFaults {
public:
    explicit FailSome(std::uint64_t seed) : random_{seed} {}
    bool program_fails(Ppn) override { return random_.chance(1, 600); }
    bool erase_fails(BlockId) override { return random_.chance(1, 80); }

private:
    Random random_;
};

} // namespace

TEST_CASE("the blocks of a set are pairs at one block offset, bad blocks or not, and no block is lost but the partner of a bad one",
          "[ftl][coftl][two-plane]") {
    const std::uint32_t bad = GENERATE(0u, 60'000u);
    const Shape shape = GENERATE(from_range(two_plane_shapes()));
    CAPTURE(bad, shape.channels, shape.width);
    SsdConfig config = paired(shape);
    config.nand.geometry.blocks_per_plane = 64;
    config.nand.factory_bad_per_million = bad;
    const Geometry g = *Geometry::make(config.nand.geometry);
    const std::vector<BlockId> aside{g.block_at(PlaneId{0}, 5)};
    const BlockSets sets{config.nand, g, shape.width, aside};
    CHECK(sets.count() == BlockSets::count_of(config.nand, g, shape.width, aside));
    for (const SetId set : FirstIds<SetId>{sets.count()}) {
        for (std::uint32_t c = 0; c < shape.width; c += 2) {
            const BlockId one = sets.block(set, c), other = sets.block(set, c + 1);
            REQUIRE(g.plane_of(one).value() % 2 == 0);
            REQUIRE(g.plane_of(other).value() == g.plane_of(one).value() + 1);
            REQUIRE(one.value() % 64 == other.value() % 64);
            REQUIRE(sets.set_of(one) == set);
            REQUIRE(sets.set_of(other) == set);
        }
    }
    if (bad == 0) CHECK(sets.count() == (g.blocks() - 2 * shape.width / 2) / shape.width);
}

TEST_CASE("a set with two-plane commands is programmed, read and erased pair by pair", "[ftl][coftl][two-plane]") {
    CutRig rig{paired({2, 4, 0, 64}), Payload::keep, UndoPolicy::none};
    const NandCounters& n = rig.array().counters();
    rig.now = rig.write(0, 1);
    CHECK(n.two_plane_programs == 2);
    CHECK(n.programs[static_cast<std::size_t>(Cause::user)] == 4);
    rig.check_unit(0);
    CHECK(n.two_plane_reads == 2);
    Random random{3};
    for (int i = 0; i < 400; ++i) rig.step(random);
    CHECK(n.two_plane_erases > 0);
    CHECK(own(rig).merges > 0);
    rig.check_all();
}

TEST_CASE("coftl with two-plane commands keeps the contract across power cuts, also while it recovers", "[ftl][coftl][two-plane][crash]") {
    for (const Shape& shape : two_plane_shapes()) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            CAPTURE(shape.channels, shape.width, shape.slots, shape.tables);
            cut_often(paired(shape), seed);
        }
    }
}

TEST_CASE("blocks that fail under two-plane commands are retired and lose no page", "[ftl][coftl][two-plane][faults]") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        SsdConfig config = paired({2, 4, 0, 8});
        config.nand.geometry.blocks_per_plane = 60;
        config.ftl.reserved_permille = 500;
        FailSome faults{seed};
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        rig.set_faults(&faults);
        Random random{seed};
        for (int i = 0; i < 120; ++i) {
            CAPTURE(i);
            rig.step(random);
            rig.require_sound();
        }
        rig.set_faults(nullptr);
        rig.check_all();
        CHECK(rig.ftl().counters().retired_blocks > 0);
    }
}

TEST_CASE("where planes take turns, two-plane commands write and read twice the pages in the time of one page", "[ftl][coftl][two-plane]") {
    const auto time_of = [](bool two_plane, bool reads) {
        SsdConfig config = coftl_config({1, two_plane ? 2u : 1u, 0, 64});
        config.nand.options.independent_planes = false;
        config.nand.options.two_plane = two_plane;
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        const std::uint32_t units = two_plane ? 2 : 4; // four pages of the chip either way
        rig.now = rig.write(0, 1);                     // its virtual block has a set
        const SimTime written = rig.write(1, units);
        if (!reads) return written - rig.now;
        rig.now = written;
        std::vector<std::byte> to(std::size_t{units} * rig.unit_bytes());
        return *rig.ssd().read(rig.sector(1), units * (rig.unit_bytes() / sector_bytes), to, rig.now) - rig.now;
    };
    CHECK(time_of(true, false) * 19 < time_of(false, false) * 10);
    CHECK(time_of(true, true) * 17 < time_of(false, true) * 10);
}

TEST_CASE("sets that no pairs of planes can make are refused with the reason", "[ftl][coftl][two-plane]") {
    const auto refusal = [](const SsdConfig& config) {
        const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
        return plan ? std::string{} : plan.error();
    };
    CHECK(refusal(paired({2, 4})).empty());
    CHECK(refusal(paired({2, 1})).find("it must be even") != std::string::npos);
    CHECK(refusal(paired({4, 6})).find("its half must divide the 4 channels") != std::string::npos);
    SsdConfig single = paired({2, 2});
    single.nand.geometry.planes_per_die = 1;
    CHECK(refusal(single).find("nand.two_plane is 1") != std::string::npos);
}
