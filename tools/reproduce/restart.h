/// How long a drive takes to start after its process was killed. At the kill every request issued is complete, and nothing was shut down.
///
/// Idea       There are two drives of the same plan. One runs the load. The other gets its cells and its PRAM, and starts. How much is to be done
///            depends on when the last checkpoint was: for several kills the first drive goes on, a random number of requests each.
/// Cost       Memory for both drives with payload, so only small drives are possible. A kill more costs a copy, a start, and its requests.
#pragma once

#include "tools/reproduce/trace_run.h"

namespace flashlab {

struct Restart {
    double ms = 0;                   ///< time of the start, on the drive's clock
    std::uint64_t pages_scanned = 0; ///< pages of the log and spare areas that the start looked at
    std::uint64_t blocks = 0;        ///< blocks of the drive
};

[[nodiscard]] std::expected<Restart, std::string> restart(const TraceRun& run, const MakeRequests& load);

/// Median and most of several kills: each value for itself.
struct Restarts {
    Restart median, most;
};
/// The first after run.requests; each of the others after up to half as many more, by the run's seed.
[[nodiscard]] std::expected<Restarts, std::string> restarts(const TraceRun& run, const MakeRequests& load, std::size_t kills);

} // namespace flashlab
