#include "fs/fuse/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/contract.h"

namespace flashlab {

std::size_t LatencyHistogram::bucket_of(std::uint64_t value) {
    constexpr std::uint64_t steps = 1u << step_bits;
    if (value < steps) return value; // the first octaves are exact
    const unsigned octave = static_cast<unsigned>(std::bit_width(value)) - 1 - step_bits;
    return ((octave + 1) << step_bits) + static_cast<std::size_t>((value >> octave) - steps);
}

std::uint64_t LatencyHistogram::top_of(std::size_t bucket) {
    constexpr std::size_t steps = 1u << step_bits;
    if (bucket < steps) return bucket;
    const std::size_t octave = (bucket >> step_bits) - 1;
    const std::uint64_t first = (steps + (bucket & (steps - 1))) << octave;
    return first + ((std::uint64_t{1} << octave) - 1);
}

void LatencyHistogram::record(std::int64_t nanoseconds) {
    const std::int64_t value = std::max<std::int64_t>(nanoseconds, 0);
    ++buckets_[bucket_of(static_cast<std::uint64_t>(value))];
    ++count_;
    max_ = std::max(max_, value);
}

std::int64_t LatencyHistogram::percentile(double fraction) const {
    if (count_ == 0) return 0;
    const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_));
    const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        seen += buckets_[bucket];
        if (seen >= rank) return std::min(max_, static_cast<std::int64_t>(top_of(bucket)));
    }
    return max_;
}

void OperationStatistics::record(FsOp op, Duration latency, int error) {
    PerOperation& counters = operations_[std::to_underlying(op)];
    counters.latency.record(latency.count());
    if (error != 0) ++counters.errors;
}

std::vector<OperationStats> OperationStatistics::snapshot() const {
    std::vector<OperationStats> all;
    for (std::size_t index = 0; index < operations_.size(); ++index) {
        const PerOperation& from = operations_[index];
        if (from.latency.count() == 0) continue;
        all.push_back({static_cast<FsOp>(index), from.latency.count(), from.errors, from.latency.percentile(0.5), from.latency.percentile(0.99), from.latency.max()});
    }
    return all;
}

std::string_view name_of(FsOp op) {
    static constexpr std::array<std::string_view, fs_op_count> names{
        "lookup", "getattr", "setattr", "readlink", "mknod", "mkdir", "symlink", "unlink", "rmdir", "rename", "link",
        "create", "open", "read", "write", "flush", "release", "fsync", "opendir", "readdir", "releasedir", "fsyncdir",
        "statfs", "getxattr", "setxattr", "listxattr", "removexattr", "fallocate", "lseek", "copy_file_range", "ioctl", "writeback", "forget"};
    static_assert(!names.back().empty());
    const auto index = std::to_underlying(op);
    ensure(index < names.size(), "name_of: a known operation");
    return names[index];
}

} // namespace flashlab
