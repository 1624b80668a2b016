/// The tester is tested: every seeded bug is found, in every scheme that it can harm.
#include "crash/seeded_bugs.h"

#include "crash/shrink.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

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
