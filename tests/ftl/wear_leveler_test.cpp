/// Wear levelling on a skewed load: a tenth of the pages takes nine writes of ten. The small run is in every suite. The drive of 256 MiB is the goal and
/// takes minutes a scheme: ctest -L long -R ftl.wear_long, or one scheme (ftl/cache/DESIGN.md has the figures):
///
///   build/release/tests/ftl_tests "[wear-long]" -c page_map
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"
#include "tests/support/wear_experiment.h"

using namespace flashlab;
using flashlab::test::measure_wear;
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

SsdConfig small_drive() {
    SsdConfig config;
    config.nand.geometry = {.channels = 2, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 1, .blocks_per_plane = 64, .pages_per_block = 16,
                            .page_bytes = 512, .spare_bytes = 32, .cell = CellType::slc};
    config.nand.factory_bad_per_million = 0;
    config.ftl.reserved_permille = 125;
    return config;
}

} // namespace

TEST_CASE("levelling moves data that never change off the blocks they spare, at a price that is counted", "[ftl][wear]") {
    const WearPoint without = run(small_drive(), 60, 0);
    const WearPoint with = run(small_drive(), 60, 6);
    CHECK(without.relocated == 0);
    CHECK(without.wear_programs == 0);
    CHECK(with.relocated > 0);
    CHECK(with.wear_programs > 0);
    CHECK(with.mean - with.min < without.mean - without.min);
    CHECK(with.above_mean() < without.above_mean());
    CHECK(with.above_mean() <= 0.2);
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
