/// A child process with a directory, an environment and a file for what it prints.
///
/// Idea       The child gets a process group of its own, so that it can be ended together with every process that it started.
/// Invariant  A Subprocess that goes out of scope leaves no process of its group and no zombie.
/// Cost       fork and exec.
/// Power cut  Programs on a mount whose power was cut get EIO. Most of them end by themselves; the others are killed.
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

/// Whether the program may read what is typed: programs in the background of a terminal are stopped when they do.
enum class Terminal : std::uint8_t { keep, lend };
/// `error`: what the program prints goes to our standard error, since standard output is for a report.
enum class OutputTo : std::uint8_t { file_or_inherited, error };

struct SubprocessCall {
    std::vector<std::string> words;                               ///< the program, looked up in PATH, and its arguments
    std::string directory;                                        ///< where the program runs; empty: the current directory
    std::string output;                                           ///< the file to which stdout and stderr are appended; empty: both are inherited
    std::vector<std::pair<std::string, std::string>> environment; ///< added to the inherited variables
    OutputTo standard_output = OutputTo::file_or_inherited;
    Terminal terminal = Terminal::keep; ///< lent: until take_terminal_back()
};

class Subprocess {
public:
    [[nodiscard]] static std::expected<Subprocess, std::string> start(const SubprocessCall& call);
    Subprocess(Subprocess&& other) noexcept : pid_{std::exchange(other.pid_, -1)} {}
    Subprocess& operator=(Subprocess&& other) noexcept;
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;
    ~Subprocess() { end(std::chrono::milliseconds{0}); }

    /// The exit code, or 128 + the signal if a signal ended the process. Nothing while it runs.
    [[nodiscard]] std::optional<int> poll();
    [[nodiscard]] int wait();
    /// Waits for `patience`, then kills the whole group.
    void end(std::chrono::milliseconds patience);

private:
    explicit Subprocess(pid_t pid) : pid_{pid} {}
    pid_t pid_; ///< -1: none
};

/// After a program that the terminal was lent to.
void take_terminal_back();

/// What happens to the program that we wait for, when a signal tells us to end (interruption.h).
enum class AtSignal : std::uint8_t { wait, end_it };
/// Starts the program and waits for it. Returns its exit code, or 127 if it could not be started.
[[nodiscard]] int run_to_end(const SubprocessCall& call, AtSignal at_signal = AtSignal::wait);

} // namespace flashlab
