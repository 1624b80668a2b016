#include "fs/fuse/statistics.h"

#include <algorithm>
#include <vector>

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("only operations that happened are listed, with their errors", "[fuse]") {
    OperationStatistics statistics;
    statistics.record(FsOp::write, Duration{700'000}, 0);
    statistics.record(FsOp::write, Duration{900'000}, ENOSPC);
    statistics.record(FsOp::forget, Duration{-7}, 0); // counts as zero
    const auto all = statistics.snapshot();
    REQUIRE(all.size() == 2);
    CHECK(all[0].op == FsOp::write);
    CHECK(all[0].count == 2);
    CHECK(all[0].errors == 1);
    CHECK(all[0].max_ns == 900'000);
    CHECK(all[1].op == FsOp::forget);
    CHECK(all[1].p99_ns == 0);
    CHECK(all[1].max_ns == 0);
}

TEST_CASE("every operation has a name of its own", "[fuse]") {
    std::vector<std::string_view> names;
    for (std::size_t op = 0; op < fs_op_count; ++op) names.push_back(name_of(static_cast<FsOp>(op)));
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
    CHECK(name_of(FsOp::copy_file_range) == "copy_file_range");
    CHECK(name_of(FsOp::forget) == "forget");
}
