/// Wear levelling on a skewed load: a tenth of the pages takes nine writes of ten. The small run is in every suite. The drive of 256 MiB is the goal
/// and takes minutes a scheme: ctest -L long -R ftl.wear_long, or one scheme (ftl/cache/DESIGN.md has the figures):
///
///   build/release/tests/ftl_tests "[wear-long]" -c page_map
#include "ftl/forwarding_ftl.h"

#include "ftl/blocks/free_blocks.h"
#include "ftl/blocks/less_worn.h"
#include "ftl/blocks/wear_leveler.h"
#include "tests/support/catch.h"
#include "tests/support/test_drive.h"
#include "tests/support/wear_experiment.h"

using namespace flashlab;
using flashlab::test::measure_wear;
using flashlab::test::small_wear_drive;
using flashlab::test::TestDrive;
using flashlab::test::wear_drive;
using flashlab::test::WearPoint;

namespace {

WearPoint run(const SsdConfig& config, std::uint32_t fills, std::uint32_t threshold) {
    const auto point = measure_wear(config, fills, threshold);
    if (!point) FAIL(point.error());
    fmt::print("{}\n", point->text());
    CHECK(point->is_sound);
    return *point;
}

SsdConfig page_mapped(SsdConfig config) {
    config.ftl.scheme = "page_map";
    return config;
}

/// A drive of 128 blocks on two dies, each erased as often as the test says.
struct WornDrive : TestDrive<> {
    WornDrive() : TestDrive{page_mapped(small_wear_drive())} {}
    void wear(BlockId block, int erases) {
        for (int i = 0; i < erases; ++i) REQUIRE(array.erase(block, {sim_start, {Cause::user, no_event}}).has_value());
    }
};

/// All blocks hold data; notes what is to be relocated, and moves nothing.
struct NotedRelocations final : ForwardingFtl {
    using ForwardingFtl::ForwardingFtl;
    std::vector<BlockId> order;
    std::uint32_t records = 0; ///< so many blocks at the end hold records: nobody can move them

private:
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause) override {
        order.push_back(block);
        return now;
    }
    BlockStatus do_status_of(BlockId block) const override { return {block.value() + records < 128 ? BlockUse::data : BlockUse::other, 1}; }
};

} // namespace

TEST_CASE("levelling moves data that never change off the blocks they spare, at a price that is counted", "[ftl][wear]") {
    const WearPoint without = run(small_wear_drive(), 60, 0);
    const WearPoint with = run(small_wear_drive(), 60, 6);
    CHECK(without.relocated == 0);
    CHECK(without.wear_programs == 0);
    CHECK(with.relocated > 0);
    CHECK(with.wear_programs > 0);
    CHECK(with.mean - with.min < without.mean - without.min);
    CHECK(with.above_mean() < without.above_mean());
    CHECK(with.above_mean() <= 0.2);
}

TEST_CASE("levelling costs its own copies: collections that are under way go on, and dies do not drift apart", "[ftl][wear]") {
    const WearPoint without = run(page_mapped(wear_drive()), 15, 0);
    const WearPoint with = run(page_mapped(wear_drive()), 15, 16);
    REQUIRE(with.relocated > 100);
    CHECK(with.host_pages == without.host_pages);
    CHECK(static_cast<double>(with.all_programs) < 1.1 * static_cast<double>(without.all_programs));
}

TEST_CASE("256 MiB after a hundred fills of skewed writes: no block is worn a fifth more than the mean", "[.long][wear-long]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        SsdConfig config = wear_drive();
        config.ftl.scheme = scheme;
        const WearPoint with = run(config, 100, 16);
        CHECK(with.above_mean() <= 0.2);
    }
}

TEST_CASE("the coldest block is moved first, of equals the first, and none that lags by less than the threshold", "[wear]") {
    WornDrive worn;
    for (std::uint32_t b = 0; b < worn.geometry.blocks(); ++b) worn.wear(BlockId{b}, b == 7 || b == 9 ? 2 : b == 30 ? 0 : b == 12 ? 18 : 20);
    worn.recover();
    NotedRelocations ftl{worn.ftl};
    WearLeveler leveler{ftl, worn.array, 6};
    worn.wear(BlockId{64}, 16); // of the other die: time to look
    for (int i = 0; i < 10; ++i) (void)leveler.step(sim_start);
    CHECK(ftl.order == std::vector{BlockId{30}, BlockId{7}, BlockId{9}});
}

TEST_CASE("a ring of records, which nobody can move, takes no block's place among the coldest, and has no part in the mean", "[wear]") {
    WornDrive worn;
    for (std::uint32_t b = 0; b < worn.geometry.blocks(); ++b) worn.wear(BlockId{b}, b >= 108 ? 0 : b == 70 ? 12 : 20);
    worn.recover();
    NotedRelocations ftl{worn.ftl};
    ftl.records = 20;
    WearLeveler leveler{ftl, worn.array, 6};
    worn.wear(BlockId{1}, 16); // of the other die: time to look
    for (int i = 0; i < 10; ++i) (void)leveler.step(sim_start);
    CHECK(ftl.order == std::vector{BlockId{70}});
}

TEST_CASE("a block may lag by the threshold, and by an eighth of its die's mean where that is more", "[wear]") {
    const auto moved = [](std::uint32_t threshold, int erases, int lag) {
        WornDrive worn;
        for (std::uint32_t b = 0; b < worn.geometry.blocks(); ++b) worn.wear(BlockId{b}, b == 7 ? erases - lag : erases);
        worn.recover();
        NotedRelocations ftl{worn.ftl};
        WearLeveler leveler{ftl, worn.array, threshold};
        worn.wear(BlockId{64}, 64); // of the other die: time to look
        for (int i = 0; i < 10; ++i) (void)leveler.step(sim_start);
        return ftl.order == std::vector{BlockId{7}};
    };
    // One block that lags takes nearly nothing from the mean, which is rounded down: erases - 1.
    CHECK_FALSE(moved(8, 33, 9)); // 8 behind the mean of 32
    CHECK(moved(8, 33, 10));
    CHECK_FALSE(moved(8, 161, 21)); // 20 behind the mean of 160, an eighth
    CHECK(moved(8, 161, 22));
    CHECK(moved(0, 161, 22));
    CHECK_FALSE(moved(0, 161, 21));
}

TEST_CASE("wear levelling takes the least worn of the plane's free blocks", "[wear]") {
    WornDrive worn;
    FreeBlocks free{worn.geometry};
    for (const std::uint32_t b : {1u, 2u, 3u, 4u}) {
        worn.wear(BlockId{b}, b == 3 ? 1 : 4);
        free.add_erased(BlockId{b});
    }
    free.bring_forward(PlaneId{0}, LessWorn{worn.array});
    CHECK(free.take(PlaneId{0})->block == BlockId{3});
}
