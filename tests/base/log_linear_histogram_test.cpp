/// Percentiles by nearest rank, to within a step, for every width of steps in use; and the golden answers of the histograms that this one replaced.
#include "base/log_linear_histogram.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEMPLATE_TEST_CASE("a histogram of nothing answers zero", "[base]", LogLinearHistogram<4>, LogLinearHistogram<5>, LogLinearHistogram<7>) {
    const TestType histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.permille(500) == 0);
    CHECK(histogram.at_rank(0) == 0);
    CHECK(histogram.at_rank(7) == 0);
    CHECK(histogram.max() == 0);
}

TEST_CASE("values below the number of steps are kept exactly", "[base]") {
    LogLinearHistogram<5> histogram;
    for (std::uint64_t value = 0; value < 32; ++value) histogram.add(value);
    for (std::uint64_t rank = 1; rank <= 32; ++rank) CHECK(histogram.at_rank(rank) == rank - 1);
    CHECK(histogram.permille(500) == 15);
    CHECK(histogram.permille(1000) == 31);
}

TEST_CASE("the largest value has a bucket, and a rank beyond the last is the largest value", "[base]") {
    LogLinearHistogram<7> histogram;
    histogram.add(1);
    histogram.add(std::numeric_limits<std::uint64_t>::max());
    CHECK(histogram.at_rank(1) == 1);
    CHECK(histogram.at_rank(2) == std::numeric_limits<std::uint64_t>::max());
    CHECK(histogram.at_rank(99) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("neighbouring values at every power of two are told apart or share a bucket, in order", "[base]") {
    for (unsigned bit = 1; bit < 64; ++bit) {
        CAPTURE(bit);
        const std::uint64_t power = std::uint64_t{1} << bit;
        LogLinearHistogram<4> histogram;
        for (const std::uint64_t value : {power - 1, power, power + 1}) histogram.add(value);
        CHECK(histogram.at_rank(1) == power - 1); // the last of its bucket: that bucket's top
        CHECK(histogram.at_rank(2) >= power);
        CHECK(histogram.at_rank(3) == power + 1);
    }
}

template <class Histogram>
void check_against_sorted_values(std::uint64_t seed, double steps) {
    Random random{seed};
    Histogram histogram;
    std::vector<std::uint64_t> values;
    for (int count = 0; count < 5000; ++count) {
        values.push_back(random.next() >> (random.next() % 60)); // every magnitude up to the largest
        histogram.add(values.back());
    }
    std::ranges::sort(values);
    for (const std::uint32_t permille : {1u, 10u, 250u, 500u, 900u, 990u, 999u, 1000u}) {
        CAPTURE(permille);
        const auto exact = static_cast<double>(values[(permille * 5000 + 999) / 1000 - 1]);
        const auto told = static_cast<double>(histogram.permille(permille));
        CHECK(told >= exact);
        CHECK(told <= exact * (1.0 + 1.0 / steps) + 1);
    }
    CHECK(histogram.max() == values.back());
    CHECK(histogram.at_rank(5000) == values.back());
}

TEST_CASE("a percentile is the sorted value to within a step, and the maximum is exact", "[base]") {
    const std::uint64_t seed = GENERATE(11u, 12u, 13u);
    CAPTURE(seed);
    check_against_sorted_values<LogLinearHistogram<4>>(seed, 16);
    check_against_sorted_values<LogLinearHistogram<5>>(seed, 32);
    check_against_sorted_values<LogLinearHistogram<7>>(seed, 128);
}
