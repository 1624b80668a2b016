/// One run of a sweep in a process of its own, and what it printed.
///
/// Idea       The child prints into two files in memory, which the parent reads when the child has ended: no pipe can fill up, and none has to be
///            watched.
/// Invariant  The child holds no descriptor of the parent, reads nothing, and ends when the parent does.
/// Cost       fork, two files in memory.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tools/sweep/sweep_run.h"

namespace flashlab {

struct SweepChild {
    SweepRun run;
    pid_t process = -1;
    int out = -1, error = -1;
    double begin = 0; ///< seconds of a clock that only runs forward
};

[[nodiscard]] std::expected<SweepChild, std::string> start_sweep_child(const SweepRun& run,
                                                                       const std::function<int(const std::vector<std::string>&)>& command);

} // namespace flashlab
