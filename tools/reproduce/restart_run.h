/// How long a drive takes to start again after its process was killed: everything issued is complete, nothing was shut down.
///
/// Idea       Two drives of the same plan: one runs the load, the other gets its cells and its PRAM and starts.
/// Cost       Both drives with payload in memory: small drives only.
#pragma once

#include "tools/reproduce/trace_run.h"

namespace flashlab {

/// Milliseconds of the drive's own time.
[[nodiscard]] std::expected<double, std::string> restart_ms(const TraceRun& run, const Load& load);

} // namespace flashlab
