/// What recovery takes from the write sequences: which version is newer, which unit is whole, and which log block takes no more pages.
#include "ftl/recovery/open_block_scan.h"
#include "nand/memory_page_store.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::shape_for;
using flashlab::test::tiny_config;

TEST_CASE("what is written after a recovery is newer than every trim that it found, also after another cut", "[ftl][crash][recovery]") {
    const std::string scheme = GENERATE("page_map", "dftl");
    CAPTURE(scheme);
    CutRig rig{*shape_for(scheme, tiny_config())};
    constexpr std::uint32_t pages = 8;
    rig.now = rig.write(0, pages);
    for (std::uint32_t unit = 0; unit < pages; ++unit) rig.now = rig.trim(unit, 1);
    rig.now = rig.flush(); // the trims have the last sequences, and no page on flash has one of them
    rig.cut(rig.now, 1);
    rig.now = rig.write(pages - 1, 1);
    rig.now = rig.flush();
    CHECK_FALSE(rig.is_zero(pages - 1));
    rig.cut(rig.now, 2);
    CHECK_FALSE(rig.is_zero(pages - 1));
    rig.check_all();
}

TEST_CASE("a unit of an open block counts where all its pages are of one write, by number and by sequence", "[ftl][recovery]") {
    const NandConfig config = tiny_config().nand;
    const Geometry geometry = *Geometry::make(config.geometry);
    MemoryPageStore store{geometry, Payload::none};
    NullEventSink events;
    NandArray array{geometry, config, store, events, UndoPolicy::none};
    REQUIRE(array.open().has_value());
    const UnitGeometry units{geometry, 2};
    const BlockId block{3};
    SimTime now = sim_start;
    std::uint32_t page = units.page_of(units.unit_at(block, 0), 0).value();
    const auto program = [&](Lpn lpn, WriteSequence sequence) {
        const PageProgram one{Ppn{page++}, {}, {lpn, sequence, PageKind::data, 0}};
        const auto done = array.program({&one, 1}, {now, Origin{Cause::user, no_event}});
        REQUIRE(done.has_value());
        now = *done;
    };
    for (const auto& [lpn, sequence] : {std::pair{4u, 10u}, {4u, 10u}, {5u, 11u}, {5u, 12u}, {6u, 13u}, {7u, 13u}})
        program(Lpn{lpn}, WriteSequence{sequence});
    std::vector<FoundUnit> found;
    const auto scan = scan_open_block(array, units, block, 0, now, found);
    REQUIRE(scan.has_value());
    CHECK(scan->units_begun == 3);
    REQUIRE(found.size() == 1);
    CHECK(found.front().unit == units.unit_at(block, 0));
    CHECK(found.front().sequence == WriteSequence{10});
}

TEST_CASE("a log block that a cut sealed stays sealed over a checkpoint and a clean mount", "[ftl][crash][recovery]") {
    const std::string scheme = GENERATE("log_block", "fast");
    const SsdConfig config = *shape_for(scheme, tiny_config());
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(scheme, seed);
        CutRig rig{config};
        Random random{seed};
        const SimTime from = rig.now;
        for (int k = 0; k < 30; ++k) rig.step(random);
        rig.cut(rig.random_moment(random, from), random.next());
        rig.remount_clean();
        rig.check_all();
        for (int k = 0; k < 30; ++k) rig.step(random);
        rig.check_all();
    }
}
