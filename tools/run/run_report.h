/// What a run in virtual time did to a device: the JSON object of `bench` and `replay`.
///
/// Idea       The counters are copied before the run and after it. The report is the difference, so preconditioning does not count.
/// Invariant  Keys and units are those of the documentation. The same run gives the same bytes, except for wall-clock keys and peak_rss_bytes.
/// Cost       All counters for each snapshot; the wear histogram once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ftl/counters.h"
#include "ftl/host/arbiter.h"
#include "tools/drive/device.h"
#include "tools/drive/device_report.h"
#include "tools/run/latency_recorder.h"
#include "tools/text/json.h"

namespace flashlab {

/// Of one submission queue.
struct QueueTally {
    LatencyRecorder read, write; ///< from the submission, or the time planned for it
    LatencyRecorder waited;      ///< until it was fetched
    SimTime end = sim_start;     ///< the last answer: other queues may have more to do
    std::uint64_t requests = 0;  ///< flushes and trims too
    QueuePriority priority = QueuePriority::medium;
    std::string rw{}; ///< of its load; empty: unknown
};

struct RunTally {
    std::uint64_t reads = 0, writes = 0, trims = 0, flushes = 0;
    std::uint64_t failed = 0;                                    ///< answered without the data: in none of the other counts, nor in a latency
    std::uint64_t failed_read_bytes = 0, failed_write_bytes = 0; ///< in whole sectors
    std::string first_failure{};
    std::uint64_t before = 0; ///< requests answered before the count began, in a warm-up
    std::uint64_t left = 0;   ///< requests that were to be answered when the run ended: submitted and not fetched
    LatencyRecorder all, read, write;
    SimTime begin = sim_start, end = sim_start;
    std::vector<QueueTally> queues{}; ///< none: a run without queues
    [[nodiscard]] std::uint64_t requests() const { return reads + writes + trims + flushes; }
    [[nodiscard]] std::uint64_t answered() const { return before + requests() + failed; }
};

struct RunSnapshot {
    SampleEvent sample;
    SsdCounters ssd;
    FtlCounters ftl;
    CounterValues own;                           ///< of the scheme
    WriteBufferCounters buffer;                  ///< zero without one
    std::optional<ReadAheadCounters> read_ahead; ///< none: nothing is read ahead
    PartitionCounters partition;
    std::vector<std::uint64_t> channel_busy_ns;
    BitErrorCounters bit_errors;
    [[nodiscard]] static RunSnapshot of(Device& device, SimTime now);
};

struct RunIdentity {
    std::string trace;
    std::uint64_t seed = 1;
    double wall_seconds = 0;
    Json load{}; ///< what the trace's name does not say of it, as it was given: runs of which this differs are runs of different loads
};

/// A warning if more than 1 % of the pages that a run read hold nothing: such a page takes no flash read. To be called before the device is closed.
[[nodiscard]] std::optional<std::string> warning_on_reads(Device& device, const RunSnapshot& before, const RunTally& tally);
/// A warning if what was left to do before the run, or after it, decides its figures: it only read, and more than 1 % of its flash work are programs;
/// more than 5 % of the pages that it wrote still lie in the write buffer; or it wrote less than 2 % of the drive, and most programs are not of what
/// it wrote. As above.
[[nodiscard]] std::optional<std::string> warning_on_work_before(Device& device, const RunSnapshot& before, const RunTally& tally);
[[nodiscard]] Json report_run(const RunIdentity& run, Device& device, const RunSnapshot& before, const RunTally& tally);
/// What to say last of a run of which requests failed, by its report; else nothing. Such a run has figures, and is no success.
[[nodiscard]] std::optional<std::string> failure_of(const Json& report);

} // namespace flashlab
