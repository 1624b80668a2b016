#include "base/sim_time.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

template <class T>
concept AddsToItself = requires(T a, T b) { a + b; };
template <class T>
concept KnowsNow = requires { T::now(); };

} // namespace

TEST_CASE("points in simulated time do not add and the clock has no now", "[base]") {
    STATIC_REQUIRE_FALSE(AddsToItself<SimTime>);
    STATIC_REQUIRE_FALSE(KnowsNow<SimClock>);
    CHECK(sim_time_from_ns(5) - sim_start == Duration{5});
    CHECK(ns_since_start(sim_start + Duration{7}) == 7);
    CHECK(sim_never > sim_time_from_ns(INT64_MAX - 1));
}
