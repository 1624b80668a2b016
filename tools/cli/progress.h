/// How far a long command is, shown at a terminal.
///
/// Idea       One line on stderr that is overwritten twice a second, after the first second.
/// Invariant  Nothing is printed if stderr is no terminal.
/// Cost       A clock read a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/host/standard_streams.h"

namespace flashlab {

class Progress {
public:
    explicit Progress(std::string unit) : unit_{std::move(unit)}, shows_{::isatty(STDERR_FILENO) == 1} {}
    ~Progress() {
        if (shown_) tell(fmt::format("\r{:40}\r", ""));
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void at(std::uint64_t done) {
        const double now = seconds();
        if (!shows_ || now < next_) return;
        next_ = now + 0.5;
        shown_ = now > 1;
        if (shown_) tell(fmt::format("\r{} {}, {:.0f}/s ", done, unit_, static_cast<double>(done) / now));
    }
    /// CPU time of this process. Rates per CPU second are those of a core that is not shared.
    [[nodiscard]] static double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

private:
    std::string unit_;
    bool shows_;
    bool shown_ = false;
    double next_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace flashlab
