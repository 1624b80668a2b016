/// The signals INT, TERM, HUP and PIPE while a long command runs. The command then cleans up, reports what it has so far, marks the report as
/// partial, and ends with 128 + the signal; a service, for which a signal is the way to end, with 0.
///
/// Idea       The handler only notes which signal came first. Loops ask came(). run_command_line() turns the note into the exit code of any command.
/// Invariant  The former handlers are restored at the end of the scope. Outside of a scope a signal ends the process at once. HUP stays ignored where
///            nohup(1) has set it so. A further signal (other than PIPE) half a second or more after the first ends the process at once. The half
///            second is there because timeout(1) and shells send a signal twice and mean it once.
/// Cost       came() is one load. System calls that block return EINTR: code that waits for input asks came() then.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

namespace flashlab {

class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    [[nodiscard]] static bool came() { return first_.load(std::memory_order_relaxed) != 0; }
    /// The first signal of the newest scope, also after that scope has ended. 0: none came.
    [[nodiscard]] static int signal() { return first_.load(std::memory_order_relaxed); }
    [[nodiscard]] static std::string_view name();
    /// The exit code as shells have it: 130 (INT), 143 (TERM), 129 (HUP), 141 (PIPE).
    [[nodiscard]] static int exit_code() { return 128 + signal(); }
    /// The signal was the way to end this command, and it has done all that it had to: from here on none came.
    static void was_the_end() { first_ = 0; }

private:
    static constexpr std::array noted{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    static void note(int signal);
    inline static std::atomic<int> first_{0}; ///< static: a signal handler gets no argument of ours
    inline static std::atomic<long long> first_ms_{0};
    static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long long>::is_always_lock_free);
    std::array<struct sigaction, noted.size()> before_{};
};

} // namespace flashlab
