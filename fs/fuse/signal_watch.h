/// Waits for SIGINT, SIGTERM and SIGHUP, together with the daemon's own reasons to wake up.
///
/// Idea       The handler writes to an eventfd. The thread that runs the mount sleeps on that descriptor.
/// Invariant  There is one watch at a time. Its destructor restores the former handlers. SIGPIPE is ignored meanwhile.
/// Cost       Nothing on the request path.
#pragma once

#include <chrono>
#include <csignal>

namespace flashlab {

class SignalWatch {
public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    /// Sleeps until a signal, wake(), the time, or a change of the mount table behind the descriptor `table` (-1: none). True: the table changed.
    bool wait_until(std::chrono::steady_clock::time_point time, int table = -1);
    /// Async-signal-safe; from any thread.
    void wake() const;
    [[nodiscard]] bool signalled() const;

private:
    int event_;
    struct sigaction before_[4]{};
};

} // namespace flashlab
