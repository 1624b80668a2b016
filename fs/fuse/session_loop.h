/// The threads that take requests from the kernel.
///
/// Idea       Each worker reads and serves one request after another; requests are not handed between threads. As long as requests come one at a
///            time, one worker suffices. Before it sleeps, it polls for the next request for a moment, since being woken costs more than most
///            requests. The other workers are parked; otherwise the kernel would wake them in turn for nothing.
///            As soon as requests queue up, all workers read and none polls.
/// Invariant  A worker leaves only between requests. A worker parks only while another one is not parked, so that the device is always read.
/// Cost       One read and one writev per request, libfuse's own, and a poll; in a deep queue every 8th time only.
/// Power cut  stop() makes the workers leave, although the kernel still has the mount open.
/// Threading  start, stop and join from one thread; workers serve concurrently.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "fs/fuse/spin_budget.h"

struct fuse_session;

namespace flashlab {

class SessionLoop {
public:
    /// `on_end` is called by each worker that leaves: unmounted, or an error of /dev/fuse.
    SessionLoop(fuse_session* session, unsigned threads, std::function<void()> on_end);
    ~SessionLoop();
    SessionLoop(const SessionLoop&) = delete;
    SessionLoop& operator=(const SessionLoop&) = delete;

    void start();
    /// True: all workers have left by themselves.
    [[nodiscard]] bool has_ended() const { return working_.load() == 0; }
    /// The errno that a worker met; 0: none.
    [[nodiscard]] int error() const { return error_.load(); }
    /// Makes the workers leave and waits for them.
    void stop();

private:
    void work();
    /// Parks a worker that is not needed. False: the worker must leave.
    [[nodiscard]] bool wait_until_needed();
    /// Looks whether requests queue up. Called by a worker that has just read a request.
    void note_depth();
    [[nodiscard]] bool request_waits() const;
    /// The workers must leave. The session itself is not ended by that: after a power cut it answers EIO.
    [[nodiscard]] bool is_over() const;
    void look_for_a_request();
    void unpark_all();

    fuse_session* session_;
    unsigned threads_;
    std::function<void()> on_end_;
    std::atomic<unsigned> working_{0};
    std::atomic<bool> leaving_{false};
    std::atomic<int> error_{0};
    std::vector<std::thread> workers_;
    std::mutex lock_;
    std::condition_variable unparked_;
    unsigned active_ = 0;                 ///< workers that are not parked; under lock_
    std::atomic<bool> deep_{false};       ///< requests queue up
    std::atomic<unsigned> since_deep_{0}; ///< requests since the last that found another behind it
    SpinBudget spin_;                     ///< of the only active worker
};

} // namespace flashlab
