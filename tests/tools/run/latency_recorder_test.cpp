/// Percentiles by nearest rank.
#include "tests/support/catch.h"
#include "tools/run/latency_recorder.h"

using namespace flashlab;

TEST_CASE("a percentile is the smallest value that so many of a thousand do not exceed", "[tools]") {
    for (const std::uint64_t count : {1u, 10u, 999u, 1000u, 1001u, 2000u}) {
        CAPTURE(count);
        LatencyRecorder latencies;
        for (std::uint64_t i = 1; i < count; ++i) latencies.add(Duration{100});
        latencies.add(Duration{50'000}); // one that waits
        const std::uint64_t rank = (999 * count + 999) / 1000;
        CHECK((latencies.permille_ns(999) == 50'000) == (rank == count));
        CHECK((latencies.permille_ns(500) == 50'000) == (count == 1));
    }
}

TEST_CASE("what was never measured has no percentiles, mean or maximum: they are null and not 0", "[tools]") {
    LatencyRecorder latencies;
    for (const char* key : {"mean", "p50", "p95", "p99", "p999", "max"}) CHECK(latencies.to_json()[key].is_null());
    latencies.add(Duration{0});
    for (const char* key : {"mean", "p50", "p95", "p99", "p999", "max"})
        CHECK((latencies.to_json()[key].is_number() && latencies.to_json()[key].real() == 0));
}
