/// COFTL as its blocks wear: which ones rest, what the log costs, and how the device ends.
#include <optional>

#include "ftl/schemes/coftl.h"
#include "tests/support/coftl_shape.h"

using namespace flashlab;
using flashlab::test::coftl_config;
using flashlab::test::CutRig;
using flashlab::test::own;
using flashlab::test::two_wide;

TEST_CASE("coftl is read-only, and says so, once so many sets have failed under merges that none is left to merge into", "[ftl][coftl][faults]") {
    /// While few sets are free every program into a set fails.
    struct LastSets final : NandFaults {
        CutRig* rig = nullptr;
        bool program_fails(Ppn page) override {
            const BlockUse use = rig->ftl().status_of(rig->geometry().block_of(page)).use;
            return rig->ftl().space().free_blocks < 3 && use != BlockUse::other;
        }
        bool erase_fails(BlockId) override { return false; }
    } faults;
    SsdConfig config = coftl_config({1, 1, 0, 64});
    config.ftl.reserved_permille = 400;
    config.ftl.options.set(coftl_option::free_sets, 3); // few: chains hold the other spare ones
    CutRig rig{config, Payload::keep, UndoPolicy::none};
    faults.rig = &rig;
    rig.now = rig.write(0, rig.units());
    rig.set_faults(&faults);
    Random random{1};
    std::optional<DeviceError> error;
    const std::vector<std::byte> data(rig.unit_bytes());
    for (int i = 0; i < 5000 && !error; ++i) {
        const auto done = rig.ssd().write(rig.sector(static_cast<std::uint32_t>(random.below(rig.units()))), rig.unit_bytes() / sector_bytes, data,
                                          WriteDurability::volatile_ok, rig.now);
        if (!done) error = done.error();
    }
    REQUIRE(error.has_value());
    CHECK(error->kind == DeviceErrorKind::read_only);
    CHECK(rig.ftl().space().free_blocks == 0);
    CHECK(rig.ftl().space().spare_blocks >= 3); // not for want of good sets
    rig.require_readable();
    rig.require_sound();
}

TEST_CASE("wear levelling keeps sets that nobody rewrites from resting", "[ftl][coftl]") {
    SsdConfig config = coftl_config(two_wide());
    config.nand.geometry.blocks_per_plane = 60;
    config.ftl.options.set(coftl_option::wear_period, GENERATE(0u, 8u));
    CutRig rig{config, Payload::none, UndoPolicy::none};
    const auto write = [&](std::uint32_t unit) {
        rig.now = *rig.ssd().write(rig.sector(unit), rig.unit_bytes() / sector_bytes, {}, WriteDurability::volatile_ok, rig.now);
    };
    for (std::uint32_t u = 0; u < rig.units(); ++u) write(u);
    Random random{2};
    for (std::uint32_t i = 0; i < 20 * rig.units(); ++i) {
        write(static_cast<std::uint32_t>(random.below(rig.units() / 8)));
        if (i % 1000 == 0) rig.ssd().settle(rig.now);
    }
    rig.require_sound();
    std::uint64_t total = 0, most = 0, blocks = 0;
    for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) {
        const BlockUse use = rig.ftl().status_of(BlockId{b}).use;
        if (use == BlockUse::other || use == BlockUse::bad) continue;
        total += rig.array().erase_count(BlockId{b});
        most = std::max<std::uint64_t>(most, rig.array().erase_count(BlockId{b}));
        ++blocks;
    }
    const double mean = static_cast<double>(total) / static_cast<double>(blocks);
    CAPTURE(config.ftl.options[coftl_option::wear_period], mean, most, own(rig).wear_reclaims);
    if (config.ftl.options[coftl_option::wear_period] == 0)
        CHECK(static_cast<double>(most) > 2 * mean);
    else
        CHECK(static_cast<double>(most) < 1.3 * mean);
    WARN("period " << config.ftl.options[coftl_option::wear_period] << ": most worn " << most << ", mean " << mean);
}
