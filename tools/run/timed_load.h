/// Loads beside each other on a drive for a time, measured once it is warm.
///
/// Idea       A queue for each stream, as `bench --queue`. The drive is driven until it is warm, then what comes counts until the time is over, and
///            as much written as is wanted.
/// Invariant  The same drive, streams, times and seed give the same numbers on every host.
/// Cost       As run_queues().
#pragma once

#include <array>
#include <vector>

#include "tools/run/queue_run.h"

namespace flashlab {

struct TimedStream {
    std::uint64_t block_bytes = 4096; ///< a multiple of 512, no more than the space
    std::uint32_t depth = 1;
    bool in_order = false;
    std::uint32_t read_percent = 0;
    std::array<double, 2> planned_iops{}; ///< of reads and writes; 0: the next comes with an answer
    bool is_poisson = false;
    [[nodiscard]] bool is_planned() const { return planned_iops[0] + planned_iops[1] > 0; }
    [[nodiscard]] bool writes_at_random() const { return !in_order && read_percent != 100; }
};

struct TimedDirection {
    double iops = 0, p50_us = 0, p99_us = 0;
};
struct TimedMeasured {
    std::vector<std::array<TimedDirection, 2>> streams{}; ///< reads and writes of each
    RunTally tally{};                                     ///< of all together
    double seconds = 0, waf = 0;                          ///< 0: nothing was written
    std::uint64_t written_bytes = 0;                      ///< by the host
    [[nodiscard]] double iops() const { return seconds > 0 ? static_cast<double>(tally.all.count()) / seconds : 0; }
};

/// `from`: not before what was done on the drive. The tally's end is when the next may come. `least_written`: what counts goes on until so many bytes
/// were written, however long that takes.
[[nodiscard]] std::expected<TimedMeasured, std::string> run_for(const RunSpace& space, const std::vector<TimedStream>& streams, Duration warm,
                                                                Duration counted, SimTime from, std::uint64_t seed, std::uint64_t least_written = 0);

} // namespace flashlab
