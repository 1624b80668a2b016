/// Latencies of a live mount, counted as they happen.
///
/// Idea       A log-linear histogram per operation: 32 equal steps in each power of two, so a percentile is right to about 3 %.
/// Invariant  Every recorded value lies in exactly one bucket; the maximum is exact.
/// Cost       A record is a bit scan and an increment; 15 KiB an operation; a percentile walks the buckets.
/// Power cut  Nothing survives: it belongs to the mount.
/// Threading  None: guarded by the monitor.
/// Source     The bucket rule of Tene's HdrHistogram.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/events.h"
#include "base/sim_time.h"
#include "fs/fuse/mount.h"

namespace flashlab {

class LatencyHistogram {
public:
    void record(std::int64_t nanoseconds);
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::int64_t max() const { return max_; }
    /// Smallest bucket top below which at least `fraction` of the values lie; 0 when nothing was recorded.
    [[nodiscard]] std::int64_t percentile(double fraction) const;

private:
    static constexpr unsigned step_bits = 5;
    static constexpr std::size_t bucket_count = (64 - step_bits + 1) << step_bits;
    [[nodiscard]] static std::size_t bucket_of(std::uint64_t value);
    [[nodiscard]] static std::uint64_t top_of(std::size_t bucket);

    std::array<std::uint64_t, bucket_count> buckets_{};
    std::uint64_t count_ = 0;
    std::int64_t max_ = 0;
};

class OperationStatistics {
public:
    void record(FsOp op, Duration latency, int error);
    /// Operations that happened, in the order of FsOp.
    [[nodiscard]] std::vector<OperationStats> snapshot() const;

private:
    struct PerOperation {
        LatencyHistogram latency;
        std::uint64_t errors = 0;
    };
    std::array<PerOperation, fs_op_count> operations_;
};

[[nodiscard]] std::string_view name_of(FsOp op);

} // namespace flashlab
