/// The log written twice: what one copy lost the other says, also after power cuts, and the two are made equal again.
#include "ftl/recovery/mirrored_log.h"

#include <algorithm>
#include <array>
#include <set>

#include "ftl/schemes/coftl.h"
#include "tests/ftl/meta_log_rig.h"
#include "tests/support/coftl_shape.h"

using namespace flashlab;
using flashlab::meta_log_rig::content;
using flashlab::meta_log_rig::origin;
using flashlab::meta_log_rig::twelve_blocks_a_plane;
using flashlab::test::coftl_config;
using flashlab::test::CutRig;
using flashlab::test::Shape;

namespace {

/// Nothing of these blocks can be read but the spare bytes: a burst of errors.
class UnreadableBlocks final : public NandFaults {
public:
    explicit UnreadableBlocks(const Geometry& geometry) : geometry_{geometry} {}
    bool program_fails(Ppn) override { return false; }
    bool erase_fails(BlockId) override { return false; }
    bool read_fails(Ppn page) override { return blocks.contains(geometry_.block_of(page)); }
    std::set<BlockId> blocks;

private:
    const Geometry& geometry_;
};

struct Rig {
    NandConfig config = twelve_blocks_a_plane();
    Geometry geometry = *Geometry::make(config.geometry);
    MemoryPageStore store{geometry, Payload::keep};
    NullEventSink sink;
    UnreadableBlocks faults{geometry};
    MetaArea area = plan_meta_area(config, geometry, geometry.planes(), {.checkpoint_bytes = 700});
    MetaArea mirror = plan_mirror_area(config, geometry, area);
    std::unique_ptr<NandArray> array;
    std::unique_ptr<MirroredLog> log;
    SimTime now = sim_start;

    [[nodiscard]] std::expected<MetaLog::Recovered, NandError> open() {
        log.reset();
        array = std::make_unique<NandArray>(geometry, config, store, sink, UndoPolicy::keep);
        REQUIRE(array->open().has_value());
        array->set_faults(&faults);
        log = std::make_unique<MirroredLog>(area, mirror, *array);
        auto got = log->recover(now);
        if (got) now = got->done;
        return got;
    }
    void lose(const MetaArea& which) { faults.blocks.insert(which.blocks.begin(), which.blocks.end()); }
    void append(std::uint64_t id) {
        const auto done = log->append(1, content(id, 100), {now, origin});
        REQUIRE(done.has_value());
        now = *done;
    }
    void checkpoint(std::uint64_t id) {
        const auto done = log->checkpoint(content(id, 700), {now, origin});
        REQUIRE(done.has_value());
        now = *done;
    }
    void erase_first_pages_record(const MetaArea& which) { // as a cut leaves a page that was never begun
        for (const BlockId block : which.blocks)
            for (std::uint32_t p = 0; p < geometry.pages_per_block(); ++p)
                REQUIRE(store.write_record(geometry.page_of(block, p), PageRecord{}).has_value());
    }
};

/// Where the logs of a COFTL device lie: blocks that are neither sets nor free, by plane.
std::set<BlockId> log_blocks(CutRig& rig, std::uint32_t plane) {
    std::set<BlockId> found;
    for (std::uint32_t i = 0; i < rig.geometry().blocks_per_plane(); ++i) {
        const BlockId block = rig.geometry().block_at(PlaneId{plane}, i);
        if (rig.ftl().status_of(block).use == BlockUse::other) found.insert(block);
    }
    return found;
}

SsdConfig mirrored(const Shape& shape) {
    SsdConfig config = coftl_config(shape);
    config.nand.geometry.blocks_per_plane = 20;
    config.ftl.options.set(coftl_option::mirrored_log, true);
    return config;
}

} // namespace

TEST_CASE("log and mirror share no block and no plane where there are two, and every record is programmed twice", "[metalog][mirror]") {
    Rig rig;
    REQUIRE(rig.mirror.blocks.size() == rig.area.blocks.size());
    for (const BlockId block : rig.mirror.blocks) {
        CHECK_FALSE(rig.area.contains(block));
        CHECK(rig.geometry.plane_of(block) != rig.geometry.plane_of(rig.area.blocks.front()));
    }
    REQUIRE(rig.open().has_value());
    const auto programs = [&] { return rig.array->counters().programs[static_cast<std::size_t>(Cause::map)]; };
    rig.append(1);
    CHECK(programs() == 2);
    rig.checkpoint(2);
    CHECK(programs() == 2 + 2 * 2); // 700 bytes are two pages of 512
    CHECK(rig.log->check().empty());
}

TEST_CASE("one of the two logs may lose every page: the other says all of it, and the next checkpoint makes both equal", "[metalog][mirror]") {
    const bool loses_mirror = GENERATE(false, true);
    CAPTURE(loses_mirror);
    Rig rig;
    REQUIRE(rig.open().has_value());
    CHECK(rig.log->is_even());
    rig.checkpoint(1);
    for (std::uint64_t id = 2; id <= 6; ++id) rig.append(id);
    rig.lose(loses_mirror ? rig.mirror : rig.area);
    const auto found = rig.open();
    REQUIRE(found.has_value());
    REQUIRE(found->checkpoint.has_value());
    CHECK(found->checkpoint->payload == content(1, 700));
    REQUIRE(found->records.size() == 5);
    for (std::uint64_t id = 2; id <= 6; ++id) CHECK(found->records[id - 2].payload == content(id, 100));
    CHECK_FALSE(rig.log->is_even());
    CHECK(rig.log->needs_checkpoint(1)); // nothing is appended to logs that differ
    CHECK_THROWS_AS(rig.log->append(1, content(9, 9), {rig.now, origin}), ContractViolation);
    rig.faults.blocks.clear(); // what is written anew reads
    rig.checkpoint(7);
    CHECK(rig.log->is_even());
    rig.append(8);
    rig.lose(loses_mirror ? rig.area : rig.mirror); // now the other one
    const auto again = rig.open();
    REQUIRE(again.has_value());
    CHECK(again->checkpoint->payload == content(7, 700));
    REQUIRE(again->records.size() == 1);
    CHECK(again->records[0].payload == content(8, 100));
}

TEST_CASE("of two logs that both read, the one that says more is believed", "[metalog][mirror]") {
    Rig rig;
    REQUIRE(rig.open().has_value());
    rig.checkpoint(1);
    rig.append(2);
    const auto before = rig.now;
    rig.append(3);
    // The log's page of the third record is as never begun.
    std::uint32_t wiped = 0;
    for (const BlockId block : rig.area.blocks)
        for (std::uint32_t p = 0; p < rig.geometry.pages_per_block(); ++p) {
            const Ppn page = rig.geometry.page_of(block, p);
            const auto oob = rig.array->inspect_oob(page);
            if (oob && oob->oob && oob->oob->sequence == WriteSequence{3} && ++wiped != 0)
                REQUIRE(rig.store.write_record(page, PageRecord{}).has_value());
        }
    REQUIRE(wiped == 1);
    CHECK(rig.now > before);
    const auto found = rig.open();
    REQUIRE(found.has_value());
    REQUIRE(found->records.size() == 2);
    CHECK(found->records[1].payload == content(3, 100));
    CHECK_FALSE(rig.log->is_even());
}

TEST_CASE("when both logs are unreadable, or one is and the other is empty, nothing is believed", "[metalog][mirror]") {
    Rig rig;
    REQUIRE(rig.open().has_value());
    rig.checkpoint(1);
    SECTION("both") {
        rig.lose(rig.area);
        rig.lose(rig.mirror);
    }
    SECTION("one, and the other is empty") {
        rig.lose(rig.area);
        rig.erase_first_pages_record(rig.mirror);
    }
    SECTION("the other way round") {
        rig.lose(rig.mirror);
        rig.erase_first_pages_record(rig.area);
    }
    const auto found = rig.open();
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().kind == NandErrorKind::uncorrectable);
}

TEST_CASE("without a mirror a log that does not read ends the device's life; with one it goes on, whichever of the two is lost",
          "[ftl][coftl][mirror][crash]") {
    for (const Shape& shape : {Shape{1, 1, 0, 2}, Shape{2, 2, 4, 2}}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            CutRig rig{mirrored(shape)};
            UnreadableBlocks faults{rig.geometry()};
            const std::uint32_t last_plane = rig.geometry().planes() - 1;
            const std::array<std::set<BlockId>, 2> copies{log_blocks(rig, 0), log_blocks(rig, last_plane)};
            REQUIRE(!copies[0].empty());
            REQUIRE(copies[0].size() == copies[1].size());
            Random random{seed};
            for (int c = 0; c < 20; ++c) {
                CAPTURE(shape.channels, shape.width, seed, c);
                const SimTime from = rig.now;
                rig.set_faults(nullptr);
                rig.settle();
                for (std::uint64_t k = 1 + random.below(40); k > 0; --k) rig.step(random);
                const SimTime at = rig.random_moment(random, from);
                const std::uint64_t lost = random.below(3);
                faults.blocks = lost == 2 ? std::set<BlockId>{} : copies[lost];
                rig.set_faults(&faults);
                rig.cut_once_or_twice(at, random); // twice: the copy does not read in both recoveries
            }
            rig.set_faults(nullptr);
            rig.check_all();
            rig.remount_clean();
            rig.check_all();
        }
    }
}

TEST_CASE("after a clean shutdown, too, a lost copy of the log costs nothing, and the next mount does not depend on the one that was whole",
          "[ftl][coftl][mirror]") {
    for (const std::uint32_t first_lost : {0u, 1u}) {
        CAPTURE(first_lost);
        CutRig rig{mirrored({1, 1, 3, 2})};
        UnreadableBlocks faults{rig.geometry()};
        const std::array<std::set<BlockId>, 2> copies{log_blocks(rig, 0), log_blocks(rig, rig.geometry().planes() - 1)};
        Random random{7};
        for (int i = 0; i < 200; ++i) rig.step(random);
        faults.blocks = copies[first_lost];
        rig.set_faults(&faults);
        rig.remount_clean();
        rig.check_all();
        rig.set_faults(nullptr);
        for (int i = 0; i < 50; ++i) rig.step(random);
        faults.blocks = copies[1 - first_lost];
        rig.set_faults(&faults);
        rig.kill();
        rig.set_faults(nullptr);
        rig.check_all();
    }
}
