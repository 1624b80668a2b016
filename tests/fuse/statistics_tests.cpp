#include "fs/fuse/statistics.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a histogram of nothing answers zero", "[fuse]") {
    const LatencyHistogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.percentile(0.5) == 0);
    CHECK(histogram.max() == 0);
}

TEST_CASE("values below 32 ns are kept exactly, and a negative one counts as zero", "[fuse]") {
    LatencyHistogram histogram;
    for (std::int64_t value = 0; value < 32; ++value) histogram.record(value);
    CHECK(histogram.percentile(0.5) == 15);
    CHECK(histogram.percentile(1.0) == 31);
    LatencyHistogram negative;
    negative.record(-7);
    CHECK(negative.percentile(1.0) == 0);
}

TEST_CASE("a percentile is the sorted value to within a bucket, and the maximum is exact", "[fuse]") {
    const std::uint64_t seed = GENERATE(11u, 12u, 13u);
    CAPTURE(seed);
    Random random{seed};
    LatencyHistogram histogram;
    std::vector<std::int64_t> values;
    for (int count = 0; count < 5000; ++count) {
        values.push_back(static_cast<std::int64_t>(random.next() >> (1 + random.next() % 60))); // every magnitude up to the largest
        histogram.record(values.back());
    }
    std::ranges::sort(values);
    for (const double fraction : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        CAPTURE(fraction);
        const auto rank = static_cast<std::size_t>(std::ceil(fraction * 5000.0));
        const auto exact = static_cast<double>(values[rank - 1]);
        const auto told = static_cast<double>(histogram.percentile(fraction));
        CHECK(told >= exact);
        CHECK(told <= exact * (1.0 + 1.0 / 32) + 1);
    }
    CHECK(histogram.max() == values.back());
}

TEST_CASE("only operations that happened are listed, with their errors", "[fuse]") {
    OperationStatistics statistics;
    statistics.record(FsOp::write, Duration{700'000}, 0);
    statistics.record(FsOp::write, Duration{900'000}, ENOSPC);
    statistics.record(FsOp::forget, Duration{0}, 0);
    const auto all = statistics.snapshot();
    REQUIRE(all.size() == 2);
    CHECK(all[0].op == FsOp::write);
    CHECK(all[0].count == 2);
    CHECK(all[0].errors == 1);
    CHECK(all[0].max_ns == 900'000);
    CHECK(all[1].op == FsOp::forget);
}

TEST_CASE("every operation has a name of its own", "[fuse]") {
    std::vector<std::string_view> names;
    for (std::size_t op = 0; op < fs_op_count; ++op) names.push_back(name_of(static_cast<FsOp>(op)));
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
    CHECK(name_of(FsOp::copy_file_range) == "copy_file_range");
    CHECK(name_of(FsOp::forget) == "forget");
}
