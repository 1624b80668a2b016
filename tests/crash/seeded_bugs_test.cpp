/// The tester is tested: every seeded bug is found, in every scheme that it can harm.
#include "crash/seeded_bugs.h"

#include <algorithm>

#include "crash/default_exploration.h"
#include "crash/endurance.h"
#include "crash/shrink.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

/// As `flashlab crash selftest` takes by itself. With 8,000 it was luck: a defect of shutting down was caught after 5,831 or 12,200, as the drawn
/// states fell.
constexpr std::uint64_t states_of_a_hunt = 30'000;

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
            const auto hunted = hunt(bug, scheme, states_of_a_hunt, 1);
            if (!hunted) FAIL(hunted.error());
            caught += hunted->found ? 1 : 0;
            INFO(bug.name << ": " << bug.what);
            CHECK(hunted->found.has_value());
            if (hunted->found) UNSCOPED_INFO(bug.name << " after " << hunted->states << " states: " << hunted->found->what);
        }
        WARN(scheme << ": " << caught << " of " << seeded << " seeded bugs caught");
        CHECK(seeded >= 25);
    }
}

TEST_CASE("each judge of a drive is the only one that sees some defect, and without it the self test is red", "[crash][bugs][judges]") {
    const auto [judge, name] = GENERATE(table<Judge, std::string_view>({{Judge::running, "complains_of_shutdown"},
                                                                        {Judge::recovery, "believes_torn_records"},
                                                                        {Judge::contents, "forgets_every_other_flush"},
                                                                        {Judge::check, "forgets_the_ceiling"},
                                                                        {Judge::writing_on, "trusts_weak_blocks"},
                                                                        {Judge::second_cut, "trusts_unstable_pages"},
                                                                        {Judge::looks_erased, "trusts_blank_pages"},
                                                                        {Judge::endurance, "leaks_block_seldom"}}));
    DYNAMIC_SECTION(name_of(judge) << " and " << name) {
        const auto bug = std::ranges::find(seeded_bugs(), name, &SeededBug::name);
        REQUIRE(bug != seeded_bugs().end());
        const auto with_all = hunt(*bug, "page_map", 8'000, 1);
        REQUIRE(with_all.has_value());
        CHECK(with_all->found.has_value());
        const auto without = hunt(*bug, "page_map", 8'000, 1, JudgeSet{}.without(judge));
        REQUIRE(without.has_value());
        CHECK_FALSE(without->found.has_value());
    }
}

TEST_CASE("the default exploration finds the orders that only other devices show", "[crash][bugs][orderings]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        int orderings = 0;
        for (const SeededBug& bug : seeded_bugs()) {
            if (bug.level != "ordering" || !applies(bug, scheme)) continue;
            ++orderings;
            const auto sabotage = bug.make();
            ExploreReport report;
            ExploreLimits limits;
            limits.violations = 1;
            const auto explored = explore_by_default(scheme, 1, {.exhausted = 3'000}, limits, report, sabotage.get());
            REQUIRE(explored.has_value());
            INFO(bug.name);
            CHECK(report.violations.size() == 1);
            CHECK(report.distinct_states <= report.states);
        }
        CHECK(orderings >= 4);
    }
}

TEST_CASE("cuts in a row say what each of their looks at the image has seen", "[crash][bugs][endure]") {
    const auto [name, scheme, words] = GENERATE(table<std::string_view, const char*, const char*>({
        {"answers_writes_early", "hftl", "shows write"},
        {"forgets_flushes", "page_map", "shows write"},
        {"trusts_unstable_pages", "page_map", "shows zeros"},
        {"forgets_the_ceiling", "page_map", "check: "},
        {"leaks_block", "hftl", "a write failed: "},
        {"leaks_block_seldom", "page_map", "a request failed: "},
        {"older_version_wins", "hftl", "contract: "},
    }));
    DYNAMIC_SECTION(name) {
        const auto bug = std::ranges::find(seeded_bugs(), name, &SeededBug::name);
        REQUIRE(bug != seeded_bugs().end());
        const auto sabotage = bug->make();
        const auto endured = endure_cuts(scheme, "chip-slc", 600, 1, sabotage.get(), {});
        REQUIRE_FALSE(endured.has_value());
        CHECK_THAT(endured.error(), ContainsSubstring(words));
    }
}
