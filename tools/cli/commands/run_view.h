/// What a terminal shows while replay and bench run: a line of progress, or with --top the screen of `flashlab top`.
///
/// Idea       Both are drawn on standard error, for standard output is the report's. Keys come from the terminal itself, for standard input may be
///            the trace. Rates are per simulated second: they are the drive's. The line of progress tells the simulator's own speed.
/// Invariant  Nothing is shown if standard error is no terminal. The run does what it would do unseen. When the object goes, or close() was called,
///            the terminal is as it was.
/// Cost       A clock read every 64 requests; twice a second all counters and a walk over the block table.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/cli/commands/top_screen.h"
#include "tools/cli/progress.h"
#include "tools/run/run_loop.h"

namespace flashlab {

struct RunViewSubject {
    std::string command;        ///< "replay", "bench"
    Device& device;             ///< outlives the view
    SimTime begin;              ///< of the run; totals count from here
    std::uint32_t depth = 0;    ///< 0: open loop, of which nobody counts the queue
    std::uint64_t requests = 0; ///< 0: nobody knows how many there will be
};

class RunView {
public:
    RunView(const RunViewSubject& subject, bool top);
    /// Why --top cannot be had on this terminal. To be asked before anything long.
    [[nodiscard]] static std::string why_no_top(bool top);

    /// So many requests have been taken.
    void at(std::uint64_t done) { screen_ == nullptr ? progress_.at(done) : void(done_ = done); }
    /// The watch, which now and then draws the screen, too.
    [[nodiscard]] RunWatch over(RunWatch watch);
    void close();

private:
    using Clock = std::chrono::steady_clock;
    struct CloseFile {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    /// The counters at a time.
    struct Look {
        Json stats;
        SampleEvent sample;
        SimTime at;
    };
    [[nodiscard]] Look look_at(SimTime now, const RunTally* tally) const;
    [[nodiscard]] Json sample_of(const Look& now) const;
    void draw(const RunTally& tally);

    RunViewSubject subject_;
    Progress progress_;
    std::uint64_t done_ = 0;
    Look first_, before_;
    Clock::time_point next_{};
    std::unique_ptr<std::FILE, CloseFile> keys_; ///< declared before the screen, which reads it
    std::unique_ptr<TopScreen> screen_;          ///< null: the line of progress
};

} // namespace flashlab
