/// Starts after kills: one, and several of a drive that goes on.
#include "tools/reproduce/restart.h"

#include "tests/support/catch.h"
#include "tools/reproduce/map_point.h"

using namespace flashlab;

TEST_CASE("a drive that is killed several times is first what it is when killed once, and its starts differ", "[tools][reproduce]") {
    const TraceRun run{.config = config_of({"dftl", 40, 120, 20}), .requests = 600, .speed = {.depth = 4}};
    const MakeRequests writes = single_pages("uniform", [](Random&) { return TraceOp::write; });
    const auto once = restart(run, writes);
    const auto first = restarts(run, writes, 1), all = restarts(run, writes, 5), again = restarts(run, writes, 5);
    REQUIRE((once && first && all && again));
    for (const Restart* of : {&first->median, &first->most}) {
        CHECK(of->ms == once->ms);
        CHECK(of->pages_scanned == once->pages_scanned);
    }
    CHECK(all->median.ms < all->most.ms);
    CHECK(all->median.pages_scanned < all->most.pages_scanned);
    CHECK(all->most.ms >= once->ms);
    CHECK(all->median.blocks == once->blocks);
    CHECK(again->median.ms == all->median.ms);
    CHECK(again->most.ms == all->most.ms);
}
