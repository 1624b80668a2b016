/// How long a drive takes to start after its process was killed. At the kill every request issued is complete, and nothing was shut down.
///
/// Idea       There are two drives of the same plan. One runs the load. The other gets its cells and its PRAM, and starts.
/// Cost       Memory for both drives with payload, so only small drives are possible.
#pragma once

#include "tools/reproduce/trace_run.h"

namespace flashlab {

struct Restart {
    double ms = 0;                   ///< time of the start, on the drive's clock
    std::uint64_t pages_scanned = 0; ///< pages of the log and spare areas that the start looked at
    std::uint64_t blocks = 0;        ///< blocks of the drive
};

[[nodiscard]] std::expected<Restart, std::string> restart(const TraceRun& run, const MakeRequests& load);

} // namespace flashlab
