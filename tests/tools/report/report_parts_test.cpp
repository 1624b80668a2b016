// The parts that a report and a timeline are made of: time in bins, latencies as a curve, slices on tracks.
#include <cmath>
#include <numeric>

#include "tests/support/catch.h"
#include "tools/report/latency_curve.h"
#include "tools/report/time_bins.h"
#include "tools/report/timeline_tracks.h"

using namespace flashlab;

TEST_CASE("a stretch of time is divided over the bins that it touches, and none of it is lost or made", "[tools]") {
    TimeBins bins{1000, 2000, 10};
    bins.add_stretch(1050, 1250);
    CHECK(bins.width_ns() == 101); // so that the end itself lies in the last bin
    CHECK(std::accumulate(bins.values().begin(), bins.values().end(), 0.0) == 200);
    CHECK(bins.values()[0] == 51);
    CHECK(bins.values()[1] == 101);
    CHECK(bins.values()[2] == 48);
    bins.add_stretch(0, 1000);
    bins.add_stretch(5000, 6000);
    bins.add_stretch(1300, 1300);
    CHECK(std::accumulate(bins.values().begin(), bins.values().end(), 0.0) == 200);
}

TEST_CASE("what lies outside a span of bins counts in the first or the last one", "[tools]") {
    TimeBins bins{1000, 2000, 4};
    for (const std::int64_t at : {std::int64_t{-5}, std::int64_t{1000}, std::int64_t{2000}, std::int64_t{9'000'000'000}}) bins.add_at(at, 1);
    CHECK(bins.values().front() == 2);
    CHECK(bins.values().back() == 2);
    TimeBins empty{7, 7, 3}; // a run that took no time
    empty.add_at(7, 1);
    CHECK(empty.values().front() == 1);
}

TEST_CASE("a curve of latencies has no percentile that so few requests do not tell apart", "[tools]") {
    LatencyCurve curve;
    CHECK(curve.to_json().items().front().is_null());
    for (int i = 1; i <= 1000; ++i) curve.add(i * 1000);
    curve.sort();
    const Json us = curve.to_json();
    for (std::size_t i = 0; i < LatencyCurve::percentiles.size(); ++i) {
        const double p = LatencyCurve::percentiles[i];
        CAPTURE(p);
        CHECK(us.items()[i].is_null() == (p > 99.9));
        if (p > 99.9 || p < 5) continue;
        CHECK(us.items()[i].real() == std::ceil(p * 10 - 1e-6));
    }
    CHECK(curve.max_us() == 1000);
    CHECK(curve.mean_us() == Approx(500.5));
}

TEST_CASE("slices of one track lie apart or one within the other; what overlaps by halves gets a further track", "[tools]") {
    TimelineTracks tracks;
    CHECK(tracks.place(0, 100) == 0);
    CHECK(tracks.place(10, 50) == 0);  // within
    CHECK(tracks.place(20, 60) == 1);  // begins within the inner one and outlasts it
    CHECK(tracks.place(50, 100) == 0); // the inner one is over
    CHECK(tracks.place(70, 130) == 1); // outlasts the outer one
    CHECK(tracks.place(80, 140) == 2);
    CHECK(tracks.place(100, 200) == 0); // begins when the first ends
    CHECK(tracks.count() == 3);
}
