/// LeaFTL's drive: predictions, what is charged, what mispredictions cost, batches, and its map across mounts.
#include "base/random.h"
#include "ftl/maps/learned_table.h"
#include "ftl/schemes/demand_scheme.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

namespace {

const LearnedTable& leaftl_of(CutRig& rig) { return dynamic_cast<const PagedFtl<LearnedTable>&>(rig.ftl().undecorated()).table(); }

SsdConfig learned_drive(std::uint32_t gamma, std::uint64_t bytes) {
    SsdConfig shape = tiny_config();
    shape.nand.geometry.planes_per_die = 1;
    shape.nand.geometry.blocks_per_plane = 60;
    shape.nand.geometry.pages_per_block = 32;
    shape.nand.geometry.spare_bytes = PageOob::encoded_size + 8 * gamma; // the least
    shape.ftl.scheme = "leaftl";
    shape.ftl.options.set(leaftl_option::gamma, gamma);
    shape.ftl.options.set(leaftl_option::batch_pages, 16);
    shape.ftl.options.set(demand_option::mapping_cache_bytes, bytes);
    return *shape_for("leaftl", shape);
}

} // namespace

TEST_CASE("a spare area that cannot name gamma neighbours on both sides is refused, with what it can", "[ftl][leaftl]") {
    SsdConfig config = learned_drive(4, 1 << 16);
    --config.nand.geometry.spare_bytes;
    const auto plan = plan_ftl(config, Geometry::make(config.nand.geometry).value());
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().find("lower it to 3, or raise nand.spare_bytes") != std::string::npos);
}

TEST_CASE("leaftl whose segments all fit its DRAM neither reads nor writes translation pages", "[ftl][leaftl]") {
    const auto after = [](std::uint64_t bytes) {
        CutRig rig{learned_drive(0, bytes)};
        Random random{5};
        for (std::uint32_t i = 0; i < 6 * rig.units(); ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
        for (std::uint32_t u = 0; u < rig.units(); ++u) rig.check_unit(u);
        rig.check_all();
        return std::pair{leaftl_of(rig).counted().translation_reads, leaftl_of(rig).counted().translation_writes};
    };
    CHECK(after(1 << 20) == std::pair<std::uint64_t, std::uint64_t>{0, 0}); // collections move pages all the time
    const auto [reads, writes] = after(1 << 11);
    CHECK(reads > 0);
    CHECK(writes > 0);
}

TEST_CASE("each prediction of leaftl is within gamma of its page, and a wrong one costs exactly one read more", "[ftl][leaftl]") {
    for (const std::uint32_t gamma : {0u, 4u, 16u}) {
        CAPTURE(gamma);
        CutRig rig{learned_drive(gamma, 1 << 16)};
        Random random{gamma + 1};
        for (std::uint32_t pass = 0; pass < 5; ++pass)
            for (std::uint32_t u = 0; u < rig.units(); u += 1 + (random.below(3) == 0 ? static_cast<std::uint32_t>(random.below(3)) : 0))
                rig.now = rig.write(u, 1);
        const LearnedTable& table = leaftl_of(rig);
        CHECK((table.learned().learned_approximate != 0) == (gamma != 0));
        std::uint64_t wrong = 0, mapped = 0;
        for (std::uint32_t l = 0; l < rig.ftl().logical_pages(); ++l) {
            const auto predicted = table.prediction(Lpn{l});
            const auto unit = table.current(Lpn{l});
            REQUIRE(predicted.has_value() == unit.has_value());
            if (!unit) continue;
            ++mapped;
            const std::int64_t away = std::int64_t{predicted->unit} - unit->value();
            CHECK(std::abs(away) <= (predicted->is_exact ? 0 : gamma));
            wrong += away != 0 ? 1 : 0;
        }
        CHECK((wrong != 0) == (gamma != 0));
        const auto reads = [&] {
            std::uint64_t all = 0;
            for (const std::uint64_t n : rig.array().counters().reads) all += n;
            return all;
        };
        const std::uint64_t before = reads(), translations = table.counted().translation_reads;
        for (std::uint32_t u = 0; u < rig.units(); ++u) rig.check_unit(u);
        CHECK(table.learned().mispredictions == wrong);
        CHECK(reads() - before == mapped + wrong + table.counted().translation_reads - translations);
    }
}

TEST_CASE("a write buffer gives leaftl sorted batches, of which each block takes a run: few segments hold all of it", "[ftl][leaftl]") {
    const auto learned = [](std::uint32_t batch) {
        SsdConfig config = learned_drive(0, 1 << 16);
        config.nand.geometry.channels = 2;
        config.nand.geometry.planes_per_die = 2;
        config.dram.write_buffer_bytes = std::uint64_t{64} * config.nand.geometry.page_bytes;
        config.ftl.options.set(leaftl_option::batch_pages, batch);
        CutRig rig{config};
        for (std::uint32_t u = 0; u < 512; ++u) rig.now = rig.write(u / 32 * 32 + u * 13 % 32, 1); // out of order, as far as the buffer sorts it
        rig.now = rig.flush();
        rig.check_all();
        return leaftl_of(rig).learned().learned;
    };
    CHECK(learned(1) > 400);
    CHECK(learned(64) <= 512 / 16 * 2); // runs of 16, and what groups and the ends of blocks cut
}

TEST_CASE("leaftl takes no more DRAM than it was given, but for a group and what collections bring", "[ftl][leaftl]") {
    const std::uint64_t given = 2048;
    CutRig rig{learned_drive(4, given)};
    Random random{7};
    for (std::uint32_t i = 0; i < 6000; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units())), 1);
    const LearnedTable& table = leaftl_of(rig);
    const std::uint64_t a_group = 8 + SegmentLevels::encoded_bytes_at_most(32);
    CHECK(table.learned().most_bytes <= given + a_group + 26ull * rig.geometry().pages_per_block() * 2);
    CHECK(table.counted().translation_writes > 100);
    CHECK(table.counted().map_dirty_evictions > 100);
    rig.check_all();
    const std::uint64_t misses = table.counted().map_read_misses, reads = table.counted().translation_reads;
    for (std::uint32_t u = 0; u < rig.units(); u += 32) rig.check_unit(u);
    CHECK(table.counted().map_read_misses > misses);
    CHECK(table.counted().translation_reads > reads);
}

TEST_CASE("the segments of leaftl, exact and approximate, come back after shutdowns and power cuts", "[ftl][leaftl]") {
    for (const std::uint32_t gamma : {0u, 4u}) {
        for (const std::uint64_t bytes : {64u, 1024u}) {
            CAPTURE(gamma, bytes);
            SsdConfig config = learned_drive(gamma, bytes);
            config.nand.geometry.blocks_per_plane = 24;
            config.nand.geometry.pages_per_block = 8;
            CutRig rig{*shape_for("leaftl", config)};
            Random random{gamma + bytes};
            std::uint64_t approximate = 0;
            for (std::uint32_t turn = 0; turn < 60; ++turn) {
                const SimTime from = rig.steps_and_pauses(random);
                for (std::uint32_t u = static_cast<std::uint32_t>(random.below(8)); u < rig.units() / 2;
                     u += 1 + static_cast<std::uint32_t>(random.below(3)))
                    rig.now = rig.write(u, 1);
                approximate += leaftl_of(rig).learned().learned_approximate;
                rig.leave(from, random);
            }
            CHECK((approximate != 0) == (gamma != 0));
        }
    }
}

TEST_CASE("what leaftl compacts, it answers as before, in no more bytes", "[ftl][leaftl]") {
    SsdConfig config = learned_drive(4, 1 << 16);
    const auto bytes_after = [&](bool compacts) {
        config.ftl.options.set(leaftl_option::compaction_pages, compacts ? 500 : 0);
        CutRig rig{config};
        Random random{5};
        for (std::uint32_t i = 0; i < 5000; ++i) rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 4)), 1);
        rig.check_all();
        return leaftl_of(rig).bytes_used();
    };
    const std::uint64_t compacted = bytes_after(true), grown = bytes_after(false);
    CHECK(compacted < grown);
}
