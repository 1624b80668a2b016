/// A child process with a directory, an environment and a file for what it prints.
///
/// Idea       Started in a process group of its own, so that it ends with everything that it started.
/// Invariant  A Subprocess that goes out of scope leaves no process of its group and no zombie.
/// Cost       fork and exec.
/// Power cut  Programs on a mount whose power went get EIO; most end by themselves, the others are ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace flashlab {

struct SubprocessCall {
    std::vector<std::string> words;     ///< the program, looked up in PATH, and its arguments
    std::string directory;              ///< to run in; empty: this one
    std::string output;                 ///< file to append both outputs to; empty: inherited
    std::vector<std::pair<std::string, std::string>> environment; ///< beside the inherited
};

class Subprocess {
public:
    [[nodiscard]] static std::expected<Subprocess, std::string> start(const SubprocessCall& call);
    Subprocess(Subprocess&& other) noexcept : pid_{std::exchange(other.pid_, -1)} {}
    Subprocess& operator=(Subprocess&& other) noexcept;
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;
    ~Subprocess() { end(std::chrono::milliseconds{0}); }

    /// The exit code, 128 + the signal where one ended it; nothing while it runs.
    [[nodiscard]] std::optional<int> poll();
    [[nodiscard]] int wait();
    /// Waits that long, then ends the whole group.
    void end(std::chrono::milliseconds patience);

private:
    explicit Subprocess(pid_t pid) : pid_{pid} {}
    pid_t pid_; ///< -1: none
};

/// What becomes of a program that we wait for when a signal tells us to end (interruption.h).
enum class AtSignal : std::uint8_t { wait, end_it };
/// Starts, waits; the exit code, 127 where it could not be started.
[[nodiscard]] int run_to_end(const SubprocessCall& call, AtSignal at_signal = AtSignal::wait);

} // namespace flashlab
