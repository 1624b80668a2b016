/// ftl.separation: streams of data with frontiers of their own, for page_map, dftl and hftl.
#include <fmt/format.h>

#include "ftl/blocks/cause_separation.h"
#include "ftl/blocks/frequency_separation.h"
#include "ftl/blocks/separation_policies.h"
#include "tests/support/every_scheme.h"
#include "tests/support/separation_experiment.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::measure_separation;
using flashlab::test::shape_for;
using flashlab::test::skewed_drive;
using flashlab::test::tiny_config;

namespace {

SsdConfig separated(const std::string& scheme, const std::string& separation, SsdConfig shape = tiny_config()) {
    shape.ftl.separation = separation;
    return *shape_for(scheme, shape);
}

std::uint32_t open_blocks(CutRig& rig) {
    std::uint32_t open = 0;
    for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) open += rig.ftl().status_of(BlockId{b}).use == BlockUse::open ? 1 : 0;
    return open;
}

std::string refusal(const SsdConfig& config) {
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    return plan ? "" : plan.error();
}

} // namespace

TEST_CASE("hot and cold pages kept apart are written with less amplification under a skewed load", "[ftl][separation]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const auto mixed = measure_separation(skewed_drive(scheme, "none"));
    REQUIRE(mixed.has_value());
    for (const auto& policy : separation_policies()) {
        const auto point = measure_separation(skewed_drive(scheme, std::string{policy.name}));
        if (!point) FAIL(point.error());
        fmt::print("{}, ftl.separation {}: write amplification {:.3f}, copies of collections {:.3f} of it\n", scheme, policy.name, point->all,
                   point->collections);
        CAPTURE(scheme, policy.name);
        CHECK(point->is_sound);
        if (policy.streams == 1) continue;
        // With dftl what two streams of map updates cost takes back what `cause` saves of the copies.
        const bool gains = scheme != "dftl" || policy.name != "cause";
        CHECK(point->all < mixed->all * (gains ? 1 : 1.03));
        if (policy.name == "frequency") CHECK(point->collections < mixed->collections);
    }
}

TEST_CASE("a page is hot when it was written twice and more than twice as often as the mean, and cools down", "[ftl][separation]") {
    FrequencySeparation policy{100};
    const auto hot = FrequencySeparation::hot, cold = FrequencySeparation::cold;
    for (std::uint32_t l = 0; l < 99; ++l) {
        CHECK(policy.stream_of_write(Lpn{l}) == cold);
        policy.written(Lpn{l}); // a fill makes nothing hot
        CHECK(policy.stream_of_write(Lpn{l}) == cold);
    }
    policy.written(Lpn{5}); // the hundredth: 2 becomes 1, 1 becomes 0
    CHECK(policy.stream_of_write(Lpn{5}) == cold);
    for (int i = 0; i < 3; ++i) policy.written(Lpn{5});
    CHECK(policy.stream_of_write(Lpn{5}) == hot);
    CHECK(policy.stream_of_copy(Lpn{5}) == hot);
    CHECK(policy.stream_of_copy(Lpn{6}) == cold);
    for (std::uint32_t i = 0; i < 400; ++i) policy.written(Lpn{10 + i % 90});
    CHECK(policy.stream_of_write(Lpn{5}) == cold);
    for (int i = 0; i < 1000; ++i) policy.written(Lpn{0}); // saturates
    CHECK(policy.stream_of_write(Lpn{0}) == hot);
}

TEST_CASE("by cause the host and collections have a stream each", "[ftl][separation]") {
    const CauseSeparation policy;
    CHECK(policy.stream_of_write(Lpn{3}) != policy.stream_of_copy(Lpn{3}));
}

TEST_CASE("a cut with several superblocks open, and a clean mount that goes on in them, keep every page", "[ftl][separation][crash]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const std::string separation = GENERATE("frequency", "cause");
    SsdConfig shape = tiny_config();
    shape.nand.geometry.blocks_per_plane = 40;
    shape.ftl.reserved_permille = 300;
    const SsdConfig config = separated(scheme, separation, shape);
    CAPTURE(scheme, separation);
    CutRig rig{config};
    Random random{11};
    const std::uint32_t one_superblock = 2 + (scheme == "dftl" ? 1 : 0); // of two planes; dftl's translation pages have a block, too
    const auto churn = [&] {
        for (int i = 0; i < 600; ++i) {
            rig.settle();
            rig.now = rig.write(static_cast<std::uint32_t>(random.below(random.chance(9, 10) ? rig.units() / 10 : rig.units())), 1);
        }
        for (int i = 0; i < 2000 && open_blocks(rig) <= one_superblock; ++i)
            rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 10)), 1);
    };
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.now = rig.write(unit, 1);
    churn();
    REQUIRE(open_blocks(rig) > one_superblock);
    bool goes_on_in_both = false; // what is full at the shutdown is closed
    for (int i = 0; i < 100 && !goes_on_in_both; ++i) {
        rig.now = rig.write(static_cast<std::uint32_t>(random.below(rig.units() / 10)), 1);
        rig.remount_clean();
        goes_on_in_both = open_blocks(rig) > one_superblock;
    }
    CHECK(goes_on_in_both);
    rig.check_all();
    for (int c = 0; c < 10; ++c) {
        CAPTURE(c);
        churn();
        const SimTime from = rig.now;
        for (int k = 0; k < 20; ++k) rig.step(random);
        rig.cut(rig.random_moment(random, from), random.next());
    }
    rig.check_all();
}

TEST_CASE("ftl.separation is refused where it does nothing, where nobody knows it, and where the drive is too small", "[ftl][separation]") {
    for (const std::string& scheme : all_schemes()) {
        CAPTURE(scheme);
        SsdConfig config = skewed_drive(scheme, "cause");
        const bool separates = scheme == "page_map" || scheme == "dftl" || scheme == "tpftl" || scheme == "hftl";
        CHECK(refusal(config).empty() == separates);
        if (!separates) CHECK(refusal(config).find("ftl.separation is cause: " + scheme) == 0);
        config.ftl.separation = "best";
        if (separates) CHECK(refusal(config).find("there are: none, frequency, cause") != std::string::npos);
        if (!separates) continue;
        // The smallest drive that the scheme takes at all has no blocks for another open superblock.
        config = tiny_config();
        config.ftl.scheme = scheme;
        config.nand.geometry.blocks_per_plane = 1;
        while (!refusal(config).empty()) ++config.nand.geometry.blocks_per_plane;
        config.ftl.separation = "frequency";
        CHECK(refusal(config).find("ftl.separation frequency holds 2 superblocks open") != std::string::npos);
    }
}
