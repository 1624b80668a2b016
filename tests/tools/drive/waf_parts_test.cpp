#include "tools/drive/waf_parts.h"

#include <cmath>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("the rounded parts of a write amplification add up to the rounded whole, and none is off by a digit", "[tools]") {
    Random random{7};
    for (int trial = 0; trial < 20'000; ++trial) {
        std::array<std::uint64_t, cause_count> programs{};
        for (auto& count : programs) count = random.below(3) == 0 ? 0 : random.below(1'000'000);
        const std::uint64_t page = 4096, host = 1 + random.below(std::uint64_t{1} << 32);
        const WafParts exact = WafParts::of(programs, page, host), shown = exact.rounded();
        const auto steps = [](double value) { return std::llround(value * 1e4); };
        const double whole = exact.user + exact.gc + exact.merge + exact.map;
        REQUIRE(steps(shown.user) + steps(shown.gc) + steps(shown.merge) + steps(shown.map) == steps(whole));
        for (const auto part : {&WafParts::user, &WafParts::gc, &WafParts::merge, &WafParts::map})
            REQUIRE(std::abs(shown.*part - exact.*part) < 1e-4);
    }
    const WafParts none = WafParts::of(std::array<std::uint64_t, cause_count>{}, 4096, 0).rounded();
    CHECK(none.user + none.gc + none.merge + none.map == 0);
}
