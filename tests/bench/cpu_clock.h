/// CPU time of this process: the cores may be shared.
#pragma once

#include <ctime>

namespace flashlab::bench {

inline double cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

inline double cpu_seconds() { return cpu_ns() / 1e9; }

} // namespace flashlab::bench
