/// How far a long command is, shown at a terminal.
///
/// Idea       One line on stderr that is overwritten twice a second, after the first second: how much is done, of how much, and about how long the
///            rest takes at the rate so far. Without a total there is no estimate.
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
    /// `total`: 0 where nobody knows it.
    explicit Progress(std::string unit, std::uint64_t total = 0) : unit_{std::move(unit)}, total_{total}, shows_{::isatty(STDERR_FILENO) == 1} {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void at(std::uint64_t done) {
        if (!shows_) return;
        const double now = seconds();
        if (now < next_) return;
        next_ = now + 0.5;
        if (now <= 1) return;
        shown_ = true;
        tell(fmt::format("\r{:<{}}\r{}", "", width, line(done, total_, unit_, now)));
    }
    /// Takes the line away, before something else is printed.
    void clear() {
        if (std::exchange(shown_, false)) tell(fmt::format("\r{:<{}}\r", "", width));
    }
    [[nodiscard]] static std::string line(std::uint64_t done, std::uint64_t total, const std::string& unit, double seconds) {
        const double rate = seconds <= 0 ? 0 : static_cast<double>(done) / seconds;
        const std::string speed = rate >= 10 ? fmt::format("{:.0f}/s", rate) : fmt::format("{:.2g}/s", rate);
        if (total == 0) return fmt::format("{} {}, {}", done, unit, speed);
        const std::string share = fmt::format("{} of {} {}, {}", done, total, unit, speed);
        if (done == 0 || done > total) return share;
        const auto left = static_cast<std::uint64_t>(seconds * static_cast<double>(total - done) / static_cast<double>(done) + 0.5);
        return left >= 3600  ? fmt::format("{}, about {} h {} min left", share, left / 3600, left / 60 % 60)
               : left >= 100 ? fmt::format("{}, about {} min left", share, (left + 30) / 60)
                             : fmt::format("{}, about {} s left", share, left);
    }
    /// CPU time of this process. Rates per CPU second are those of a core that is not shared.
    [[nodiscard]] static double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

private:
    static constexpr int width = 78;
    std::string unit_;
    std::uint64_t total_;
    bool shows_;
    bool shown_ = false;
    double next_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace flashlab
