/// Latencies of a live mount, counted as they happen.
///
/// Idea       A histogram per operation, with 32 steps in each power of two: a percentile is right to about 3 %.
/// Invariant  The maximum is exact. A negative latency counts as zero.
/// Cost       A record is a bit scan and an increment; 15 KiB an operation; a percentile walks the buckets.
/// Power cut  Nothing survives: it belongs to the mount.
/// Threading  None: guarded by the monitor.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/events.h"
#include "base/log_linear_histogram.h"
#include "base/sim_time.h"
#include "fs/fuse/mount.h"

namespace flashlab {

class OperationStatistics {
public:
    void record(FsOp op, Duration latency, int error);
    /// Operations that happened, in the order of FsOp.
    [[nodiscard]] std::vector<OperationStats> snapshot() const;

private:
    struct PerOperation {
        LogLinearHistogram<5> latency_ns;
        std::uint64_t errors = 0;
    };
    std::array<PerOperation, fs_op_count> operations_;
};

[[nodiscard]] std::string_view name_of(FsOp op);

} // namespace flashlab
