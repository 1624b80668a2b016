#include "ftl/blocks/earliest_turn.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

namespace flashlab {
namespace {

SimTime at(std::int64_t ns) { return SimTime{Duration{ns}}; }

TEST_CASE("of turns whose times grow, the first before an instant is the one that looking at each finds", "[ftl][allocation]") {
    const auto turns = GENERATE(1u, 2u, 3u, 7u, 8u, 9u, 64u, 257u);
    CAPTURE(turns);
    Random random{turns};
    EarliestTurn earliest{turns};
    std::vector<SimTime> times(turns, sim_start);
    for (std::uint32_t step = 0; step < 2000; ++step) {
        const auto raised = static_cast<std::uint32_t>(random.below(turns));
        times[raised] += Duration{static_cast<std::int64_t>(random.below(20))};
        earliest.raise(raised, times[raised]);
        const auto instant = at(static_cast<std::int64_t>(random.below(2 + 20 * step / turns)));
        const auto from = static_cast<std::uint32_t>(random.below(turns + 1)),
                   end = from + static_cast<std::uint32_t>(random.below(turns + 1 - from));
        const auto found = std::find_if(times.begin() + from, times.begin() + end, [=](SimTime time) { return time < instant; });
        REQUIRE(earliest.first_before(instant, from, end) == static_cast<std::uint32_t>(found - times.begin()));
    }
}

TEST_CASE("of no turn is anything known at first: each comes before any instant", "[ftl][allocation]") {
    const EarliestTurn earliest{5};
    for (std::uint32_t turn = 0; turn < 5; ++turn) CHECK(earliest.first_before(at(1), turn, 5) == turn);
    CHECK(earliest.first_before(sim_start, 0, 5) == 5);
    CHECK(earliest.first_before(sim_never, 5, 5) == 5);
}

} // namespace
} // namespace flashlab
