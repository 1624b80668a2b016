/// How long a drive takes to start again after its process was killed: everything issued is complete, nothing was shut down.
///
/// Idea       Two drives of the same plan: one runs the load, the other gets its cells and its PRAM and starts.
/// Cost       Both drives with payload in memory: small drives only.
#pragma once

#include "tools/reproduce/trace_run.h"

namespace flashlab {

struct Restart {
    double ms = 0;                   ///< of the drive's own time
    std::uint64_t pages_scanned = 0; ///< of its log, and spare areas
    std::uint64_t blocks = 0;        ///< that the drive has
};
[[nodiscard]] std::expected<Restart, std::string> restart(const TraceRun& run, const Load& load);

} // namespace flashlab
