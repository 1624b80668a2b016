/// What only hFTL promises; what every scheme does is in scheme_model_test.cpp and scheme_power_cut_test.cpp.
#include "base/little_endian.h"
#include "ftl/maps/hftl_tables.h"
#include "pram/memory_pram_store.h"
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

TEST_CASE("a walk over the mapping table meets every entry that is not empty, whatever lies between them", "[ftl][hftl]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.blocks_per_plane = 600;
    const UnitGeometry units{*Geometry::make(config.nand.geometry), 1};
    constexpr std::uint32_t logical_pages = 9000; // 4,096 bytes of the table are 1,024 of them
    const HftlLayout layout = HftlLayout::make(0, logical_pages, units);
    MemoryPramStore store{layout.bytes};
    for (const std::uint32_t l : {5u, 1023u, 1024u, 3072u, 4095u, 7777u, logical_pages - 1})
        store_le(store.cells().subspan(layout.map.value() + std::uint64_t{l} * 4), std::uint32_t{1});
    NullEventSink sink;
    config.pram.bytes = layout.bytes;
    Pram pram{config.pram, store, sink, PramUndo::none};
    const HftlTables tables{pram, layout, units};
    std::vector<std::uint32_t> met;
    for (std::uint32_t l = tables.next_entry(0, logical_pages); l < logical_pages; l = tables.next_entry(l + 1, logical_pages)) met.push_back(l);
    CHECK(met == std::vector<std::uint32_t>{5, 1023, 1024, 3072, 4095, 7777, logical_pages - 1});
    CHECK(tables.next_entry(1025, 3000) == 3000);
    CHECK(tables.next_entry(4096, 7777) == 7777);
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

namespace {

/// Of all pages whose OOB reads.
std::uint64_t newest_on_flash(CutRig& rig) {
    std::uint64_t newest = 0;
    for (std::uint32_t p = 0; p < rig.geometry().blocks() * rig.geometry().pages_per_block(); ++p) {
        const auto page = rig.array().inspect_oob(Ppn{p});
        if (!page) FAIL("a page that cannot be looked at");
        if (page->state == CellState::programmed && page->oob) newest = std::max(newest, page->oob->sequence.value());
    }
    return newest;
}

/// Every page of what is written from here on is newer than all that lie on the flash.
void require_newer(CutRig& rig) {
    const std::uint64_t before = newest_on_flash(rig);
    rig.now = rig.write(0, 1);
    CAPTURE(before, newest_on_flash(rig));
    REQUIRE(newest_on_flash(rig) > before);
}

} // namespace

TEST_CASE("after a clean shutdown hFTL gives out no write sequence that the flash has: the ceiling says where to go on", "[ftl][hftl]") {
    CutRig rig{tiny_config(), Payload::keep, UndoPolicy::none};
    for (int i = 0; i < 20; ++i) {
        for (int k = 0; k < 7; ++k) rig.now = rig.write(static_cast<std::uint32_t>(i), 1);
        rig.remount_clean();
        require_newer(rig);
    }
}

TEST_CASE("nor after a cut of a drive of two groups whose recovery was cut, too", "[ftl][hftl][crash]") {
    SsdConfig config = tiny_config();
    config.nand.geometry.channels = 2;
    config.nand.geometry.blocks_per_plane = 12;
    config.pram.word_write =
        Duration{1'000'000}; // a commit takes longer than programs do: a cut then often falls between the two commits of a recovery
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CutRig rig{config};
        Random random{seed};
        for (int c = 0; c < 60; ++c) {
            CAPTURE(seed, c);
            const SimTime from = rig.now;
            rig.settle();
            // Issued at once: the pages of one group wait for the commit that opens their superblock, those of the other are programmed beside it.
            for (std::uint64_t k = 1 + random.below(4); k > 0; --k) rig.write(static_cast<std::uint32_t>(random.below(rig.units() - 16)), 16);
            rig.cut_twice(rig.random_moment(random, from), random);
            require_newer(rig);
        }
    }
}
