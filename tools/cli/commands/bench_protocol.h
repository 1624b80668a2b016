/// `flashlab bench --protocol`: a protocol of tools/run/protocols.h on a drive in memory, and its tables.
#pragma once

#include "tools/cli/commands/bench_load.h"

namespace flashlab {

/// The exit code.
[[nodiscard]] int run_bench_protocol(const BenchOptions& o);

} // namespace flashlab
