#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/random.h"
#include "ftl/blocks/block_pool.h"
#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/full_blocks.h"
#include "ftl/blocks/greedy_victim.h"
#include "ftl/blocks/page_blocks.h"
#include "ftl/blocks/valid_map.h"
#include "ftl/blocks/victim_policies.h"
#include "tests/support/catch.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;

TEST_CASE("the greedy victim has the fewest valid units, the first to come there among equals", "[blocks]") {
    const auto geometry = *Geometry::make(test::tiny_config().nand.geometry);
    const UnitGeometry units{geometry, 1};
    FullBlocks full{units};
    GreedyVictim policy;
    CHECK_FALSE(policy.choose(full, PlaneId{0}).has_value());
    full.add(BlockId{3}, 5);
    full.add(BlockId{1}, 4);
    full.add(BlockId{2}, 4);
    full.add(BlockId{12}, 0); // of the other plane
    CHECK(policy.choose(full, PlaneId{0})->block == BlockId{1});
    full.update(BlockId{3}, 3);
    CHECK(policy.choose(full, PlaneId{0})->block == BlockId{3});
    full.remove(BlockId{3});
    full.remove(BlockId{1});
    CHECK(policy.choose(full, PlaneId{0})->block == BlockId{2});
    CHECK(policy.choose(full, PlaneId{1})->block == BlockId{12});
    CHECK_THROWS_AS(full.add(BlockId{2}, 1), ContractViolation);
}

TEST_CASE("free blocks come back first in, first out, erased ones before garbage", "[blocks]") {
    const auto geometry = *Geometry::make(test::tiny_config().nand.geometry);
    FreeBlocks free{geometry};
    free.add_garbage(BlockId{4});
    free.add_erased(BlockId{2});
    free.add_erased(BlockId{1});
    CHECK(free.count(PlaneId{0}) == 3);
    CHECK(free.take(PlaneId{0})->block == BlockId{2});
    CHECK(free.take(PlaneId{0})->block == BlockId{1});
    const auto last = free.take(PlaneId{0});
    CHECK(last->block == BlockId{4});
    CHECK_FALSE(last->erased);
    CHECK_FALSE(free.take(PlaneId{0}).has_value());
    CHECK_FALSE(free.take(PlaneId{1}).has_value());
}

TEST_CASE("valid bits are counted by block and found in order", "[blocks]") {
    auto config = test::tiny_config().nand.geometry;
    config.pages_per_block = 130;
    const UnitGeometry units{*Geometry::make(config), 1};
    ValidMap map{units};
    for (const std::uint32_t i : {0u, 63u, 64u, 129u}) map.set(units.unit_at(BlockId{2}, i));
    CHECK(map.count(BlockId{2}) == 4);
    CHECK(map.count(BlockId{1}) == 0);
    CHECK(map.next_set(BlockId{2}, 1) == 63);
    CHECK(map.next_set(BlockId{2}, 65) == 129);
    CHECK(map.next_set(BlockId{2}, 130) == 130);
    CHECK(map.next_set(BlockId{1}, 0) == 130);
    map.clear(units.unit_at(BlockId{2}, 64));
    CHECK(map.total() == 3);
    CHECK_THROWS_AS(map.clear(units.unit_at(BlockId{2}, 64)), ContractViolation);
}

namespace {

/// Maps nothing, and takes its time to make durable that a victim is forgotten.
struct SlowToForget final : PageOwner {
    SimTime opened(OpenSuperblock&, const OpenSuperblock&, SimTime ready) override { return ready; }
    void closed(OpenSuperblock&, SimTime) override {}
    void moved(const PageOob&, UnitId, UnitId, const OpenColumn&, SimTime) override {}
    FtlResult<SimTime> forget(BlockId, BlockFate, SimTime at, EventId) override { return forgotten = at + Duration{50'000'000}; }
    SimTime condemned(BlockId, SimTime now, EventId) override { return now; }
    SimTime forgotten = sim_start;
};

/// Blocks of a new drive whose owner is a test's own.
template <class Owner>
struct BlocksOnFlash {
    explicit BlocksOnFlash(const SsdConfig& config, PageBlocksConfig of, std::unique_ptr<SeparationPolicy> separation = nullptr)
        : geometry{*Geometry::make(config.nand.geometry)}, array{geometry, config.nand, store, sink, UndoPolicy::none},
          is_open{array.open().has_value()},
          blocks{std::move(of), array, sink, owner, {.victim = make_victim_policy("greedy", {}, 1), .separation = std::move(separation)}} {
        REQUIRE(is_open);
        for (std::uint32_t b = 0; b < geometry.blocks(); ++b) blocks.load_block(BlockId{b}, PageBlocks::LoadAs::erased, host_frontier);
        blocks.finish_loading(sim_start);
    }
    Geometry geometry;
    MemoryPageStore store{geometry, Payload::none};
    NullEventSink sink;
    NandArray array;
    bool is_open;
    Owner owner;
    PageBlocks blocks;
};

} // namespace

TEST_CASE("a block that a ring gave back is erased no earlier than the ring's table is durable", "[blocks]") {
    test::CutRig rig{test::tiny_config()};
    BlockPool pool{rig.array(), 1};
    const BlockId block{rig.geometry().blocks() / 2 - 1}; // of the first plane, in use by nobody
    const SimTime durable = rig.now + Duration{50'000'000};
    pool.give(block, durable);
    CHECK(pool.last_end() == durable);
    const auto taken = pool.take(PlaneId{0}, {rig.now, {Cause::user, no_event}});
    REQUIRE(taken.has_value());
    CHECK(taken->block == block);
    std::vector<NandFlight> flights;
    rig.array().append_flights(flights);
    REQUIRE(!flights.empty());
    CHECK(flights.back().op == NandOp::erase);
    CHECK(flights.back().cells >= durable);
    CHECK(taken->ready == flights.back().end);
}

TEST_CASE("a host page behind a collection's copies waits until their victim is forgotten", "[blocks]") {
    const SsdConfig config = test::tiny_config();
    BlocksOnFlash<SlowToForget> drive{config, {.valid_units_at_most = 32}};
    PageBlocks& blocks = drive.blocks;
    auto& owner = drive.owner;
    [[maybe_unused]] const Geometry& geometry = drive.geometry;
    SimTime now = sim_start;
    const auto write = [&](std::uint32_t lpn) {
        const auto placed = blocks.write_row({{Lpn{lpn}, 1}}, {now, {Cause::user, no_event}});
        REQUIRE(placed.has_value());
        blocks.validate(blocks.unit_of(*placed, 0));
        now = placed->end;
        return blocks.units().block_of(blocks.unit_of(*placed, 0));
    };
    const BlockId first = write(0);
    for (std::uint32_t lpn = 1; lpn < 2 * geometry.pages_per_block(); ++lpn) write(lpn); // a superblock is full
    REQUIRE(blocks.relocate(first, now).has_value());
    REQUIRE(owner.forgotten > now);
    REQUIRE(blocks.open(GroupId{0}).has_room()); // the copies filled a half of it
    write(100);
    CHECK(now >= owner.forgotten + config.nand.timing.page_program);
}

namespace {

/// A map in memory. That a victim is forgotten takes longer with each one, so that those freed last are forgotten last.
struct RememberedVictims final : PageOwner {
    SimTime opened(OpenSuperblock&, const OpenSuperblock&, SimTime ready) override { return ready; }
    void closed(OpenSuperblock&, SimTime) override {}
    void moved(const PageOob& oob, UnitId, UnitId to, const OpenColumn& column, SimTime) override {
        at.insert_or_assign(oob.lpn, to);
        if (on_copy) on_copy(oob.lpn, column.block);
    }
    FtlResult<SimTime> forget(BlockId victim, BlockFate, SimTime now, EventId) override {
        return forgotten[victim] = now + Duration{5'000'000 * (victims++ % 8)};
    }
    SimTime condemned(BlockId, SimTime now, EventId) override { return now; }
    SimTime write(PageBlocks& blocks, Lpn lpn, SimTime now) {
        const auto placed = blocks.write_row({{lpn, 1}}, {now, {Cause::user, no_event}});
        REQUIRE(placed.has_value());
        if (const auto old = at.find(lpn); old != at.end()) blocks.invalidate(old->second, placed->end);
        at.insert_or_assign(lpn, blocks.unit_of(*placed, 0));
        blocks.validate(at.at(lpn));
        return placed->end;
    }
    std::map<Lpn, UnitId> at;
    std::map<BlockId, SimTime> forgotten;
    int victims = 0;
    std::function<void(Lpn, BlockId)> on_copy; ///< page, and the block that it goes to
};

} // namespace

TEST_CASE("a superblock is programmed once a block that its opening leaves free is free on flash, too (B5)", "[blocks]") {
    const SsdConfig config = test::tiny_config();
    BlocksOnFlash<RememberedVictims> drive{config, {.valid_units_at_most = 100}};
    PageBlocks& blocks = drive.blocks;
    auto& owner = drive.owner;
    [[maybe_unused]] const Geometry& geometry = drive.geometry;
    SimTime now = sim_start;
    std::uint32_t stamp = 0, waits = 0;
    for (int i = 0; i < 3000; ++i) {
        const Lpn lpn{static_cast<std::uint32_t>(i % 100)}; // in order: victims hold nothing, and several are forgotten in a row
        const SimTime end = owner.write(blocks, lpn, now);
        const OpenSuperblock& open = blocks.open(GroupId{0});
        if (std::exchange(stamp, open.stamp) != open.stamp) {
            const SimTime programmed = open.ready; // at the earliest
            std::uint32_t left = 0, forgotten = 0;
            for (std::uint32_t plane = 0; plane < geometry.planes(); ++plane) {
                blocks.free_blocks().visit(PlaneId{plane}, [&](BlockId block) {
                    ++left;
                    forgotten += owner.forgotten[block] <= programmed ? 1 : 0;
                    waits += owner.forgotten[block] > now ? 1 : 0;
                    return true;
                });
            }
            CAPTURE(i, left, forgotten);
            CHECK((forgotten >= 1 || left == 0));
        }
        now = end;
    }
    CHECK(waits > 10);
}

namespace {

/// What the host writes is of one stream; a copy is of its page's parity.
struct ByParity final : SeparationPolicy {
    StreamId stream_of_write(Lpn, const Origin&) const override { return StreamId{0}; }
    StreamId stream_of_copy(Lpn lpn, StreamId) const override { return StreamId{static_cast<std::uint16_t>(lpn.value() % 2)}; }
    void written(Lpn) override {}
};

} // namespace

TEST_CASE("copies that go together, a word line at a time, are of one stream", "[blocks][one-shot]") {
    const bool one_shot = GENERATE(false, true);
    SsdConfig config = test::tiny_config();
    config.nand.geometry.cell = CellType::tlc;
    config.nand.geometry.pages_per_block = 24;
    config.nand.geometry.blocks_per_plane = 20;
    config.nand.options.one_shot = one_shot;
    BlocksOnFlash<RememberedVictims> drive{config, {.valid_units_at_most = 400, .streams = 2}, std::make_unique<ByParity>()};
    PageBlocks& blocks = drive.blocks;
    auto& owner = drive.owner;
    [[maybe_unused]] const Geometry& geometry = drive.geometry;
    std::array<int, 2> at_home{}, away{};
    owner.on_copy = [&](Lpn lpn, BlockId to) {
        const auto& mine = blocks.open(GroupId{0}, FrontierId{lpn.value() % 2}).columns;
        (std::ranges::find(mine, to, &OpenColumn::block) != mine.end() ? at_home : away)[lpn.value() % 2] += 1;
    };
    Random random{3};
    SimTime now = sim_start;
    for (std::uint32_t i = 0; i < 8000; ++i) {
        const Lpn lpn{i < 400 ? i : static_cast<std::uint32_t>(random.below(400))};
        now = owner.write(blocks, lpn, now);
    }
    CAPTURE(one_shot, at_home[0], at_home[1], away[0], away[1]);
    for (const int parity : {0, 1}) {
        CHECK(at_home[static_cast<std::size_t>(parity)] > 200);
        CHECK(away[static_cast<std::size_t>(parity)] * 4 < at_home[static_cast<std::size_t>(parity)]); // a stream is a wish
    }
}
