/// The tester is tested: every seeded bug is found, in every scheme that it can harm.
#include "crash/seeded_bugs.h"

#include <algorithm>

#include "crash/shrink.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

/// Stands between the parts and changes nothing.
class Harmless final : public Sabotage {};

} // namespace

TEST_CASE("the hunt that catches the bugs catches nothing where there is none", "[crash][bugs]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        const SeededBug none{"none", "no bug", [] { return std::make_unique<Harmless>(); }};
        const auto hunted = hunt(none, scheme, 4'000, 1);
        if (!hunted) FAIL(hunted.error());
        if (hunted->found) FAIL(hunted->found->where.id() << ": " << hunted->found->what);
        CHECK(hunted->states >= 4'000);
    }
}

TEST_CASE("a violation is shrunk to fewer steps, and its id repeats it on the same defect and holds without", "[crash][bugs]") {
    const auto& bugs = seeded_bugs();
    const auto bug = std::ranges::find(bugs, std::string_view{"answers_writes_early"}, &SeededBug::name);
    REQUIRE(bug != bugs.end());
    const auto sabotage = bug->make();
    const auto explorer = std::move(*Explorer::make("hftl", "chip-slc", sabotage.get()));
    const Workload workload = *Workload::parse("w0x20.r3x10.f/t1x2.i.w3x4+500.f.w7.q2.w9x2+100.W4.i.f");
    ExploreReport report;
    ExploreLimits limits;
    limits.violations = 1;
    explorer->exhaust(workload, limits, report);
    REQUIRE(report.violations.size() == 1);
    const Violation small = shrink(*explorer, report.violations.front(), 200'000);
    CAPTURE(small.where.id());
    CHECK(small.where.workload.aging.empty());
    CHECK(small.where.workload.steps.size() == 1);
    const auto again = CrashCase::parse(small.where.id());
    REQUIRE(again.has_value());
    CHECK(explorer->replay(*again) == small.what);
    const auto sound = std::move(*Explorer::make("hftl", "chip-slc"));
    CHECK(sound->replay(*again) == std::nullopt);
}

TEST_CASE("every seeded bug is caught in every scheme that it can harm", "[crash][bugs]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        int seeded = 0;
        int caught = 0;
        for (const SeededBug& bug : seeded_bugs()) {
            if (!applies(bug, scheme)) continue;
            ++seeded;
            const auto hunted = hunt(bug, scheme, 30'000, 1);
            if (!hunted) FAIL(hunted.error());
            caught += hunted->found ? 1 : 0;
            INFO(bug.name << ": " << bug.what);
            CHECK(hunted->found.has_value());
            if (hunted->found) UNSCOPED_INFO(bug.name << " after " << hunted->states << " states: " << hunted->found->what);
        }
        WARN(scheme << ": " << caught << " of " << seeded << " seeded bugs caught");
        CHECK(seeded >= 10);
    }
}
