/// What a program promises while it runs on a mount: the lines that it writes to FLASHLAB_ACK_FD, and when each of them was there.
///
/// Idea       A pipe, and a thread that reads it at once. The host's steady clock says which lines came before a power cut.
/// Invariant  A line that before() gives was written whole before that instant. One that was written just before it, and not read yet, is left out.
/// Cost       A thread, and the lines in memory.
/// Power cut  Keeps nothing on the drive: what was promised outlives it.
/// Threading  The thread has the lines until before() is called.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace flashlab {

class PromisePipe {
public:
    using Time = std::chrono::steady_clock::time_point;

    [[nodiscard]] static std::expected<std::unique_ptr<PromisePipe>, std::string> open();
    ~PromisePipe();
    PromisePipe(const PromisePipe&) = delete;
    PromisePipe& operator=(const PromisePipe&) = delete;

    /// Open in every program that is started from here on.
    [[nodiscard]] int descriptor() const { return to_; }
    /// Ends the reading.
    [[nodiscard]] std::string before(Time until);

private:
    struct Piece {
        std::size_t end; ///< of the text so far
        Time read;
    };
    PromisePipe(int from, int to) : from_{from}, to_{to}, reader_{[this] { read_until_ended(); }} {}
    void read_until_ended();
    void end();

    int from_, to_;
    std::atomic<bool> ends_{false};
    std::string text_;
    std::vector<Piece> pieces_;
    std::thread reader_;
};

} // namespace flashlab
