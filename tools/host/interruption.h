/// INT, TERM, HUP and PIPE while a long command runs: noted, so that it cleans up, reports what it has, marked partial, and ends with 128 + the signal.
///
/// Idea       The handler notes which signal came first; loops ask came(). run_command_line() turns the note into the exit code, for every command.
/// Invariant  The former handlers come back with the end of the scope; outside of one a signal ends the process at once. HUP stays ignored where nohup(1) has it so.
///            A further signal, half a second or more after the first, ends the process at once: timeout(1) and shells send theirs twice, and mean it once.
/// Cost       came() is one load. System calls that block return EINTR: who waits for input asks came() then.
/// Power cut  Keeps nothing.
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
    /// What came, of any scope so far; 0: nothing.
    [[nodiscard]] static int signal() { return first_.load(std::memory_order_relaxed); }
    [[nodiscard]] static std::string_view name();
    /// As a shell tells it: 130, 143, 129, 141.
    [[nodiscard]] static int exit_code() { return 128 + signal(); }

private:
    static constexpr std::array noted{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    static void note(int signal);
    inline static std::atomic<int> first_{0}; ///< a handler has no argument of ours
    inline static std::atomic<long long> first_ms_{0};
    static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long long>::is_always_lock_free);
    std::array<struct sigaction, noted.size()> before_{};
};

} // namespace flashlab
