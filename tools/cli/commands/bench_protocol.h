/// `flashlab bench --protocol`: a protocol of tools/run/protocols.h on a drive in memory: its tables, and its page.
#pragma once

#include "tools/cli/commands/bench_load.h"

namespace flashlab {

/// The exit code.
[[nodiscard]] int run_bench_protocol(const BenchOptions& o);

} // namespace flashlab
