/// What a drive takes: memory for each physical page, and time to start at 512 GiB.
///
/// Idea       Each measurement has a process of its own, so that nothing freed before is counted or taken again. Bytes a page are the difference
///            between two sizes, every page written: what does not grow with the drive drops out.
/// Cost       A fill of 4 and of 12 GiB for each scheme.
#pragma once

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flashlab::bench {

/// What a process of its own answers.
template <std::size_t n>
std::array<double, n> in_own_process(const std::function<std::array<double, n>()>& measure) {
    std::array<double, n> out{};
    int ends[2];
    if (::pipe(ends) != 0) return out;
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto answer = measure();
        const bool told = ::write(ends[1], answer.data(), sizeof answer) == static_cast<ssize_t>(sizeof answer);
        ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    std::size_t got = 0;
    while (child > 0 && got < sizeof out) {
        const ssize_t more = ::read(ends[0], reinterpret_cast<char*>(out.data()) + got, sizeof out - got);
        if (more <= 0) break;
        got += static_cast<std::size_t>(more);
    }
    ::close(ends[0]);
    if (child > 0) ::waitpid(child, nullptr, 0);
    if (got != sizeof out) {
        fmt::print(stderr, "replay_bench: a measurement failed\n");
        std::exit(1);
    }
    return out;
}

inline double resident_bytes() {
    std::ifstream statm{"/proc/self/statm"};
    double all = 0, resident = 0;
    statm >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Given out by the allocator and not taken back, in its arenas and beside them.
inline double allocated_bytes() {
    const auto m = ::mallinfo2();
    return static_cast<double>(m.uordblks + m.hblkhd);
}

} // namespace flashlab::bench
