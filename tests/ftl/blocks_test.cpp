#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/full_blocks.h"
#include "ftl/blocks/greedy_victim.h"
#include "ftl/blocks/valid_map.h"
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
