/// The threads that take requests from the kernel.
///
/// Idea       Each worker reads and serves one request after another; nothing is handed between threads. As long as requests come one at a time (QueueDepth)
///            one worker suffices, and before it sleeps it looks for the next request for a moment: to be woken costs more than most requests. The others are
///            parked, since the kernel would wake them in turn, to find nothing. As soon as requests queue up all workers read, and none looks.
/// Invariant  A worker leaves only between requests. Some worker is always on its way to the device: one that parks leaves another that is not parked.
/// Cost       One read and one writev per request, libfuse's own, and a poll; in a deep queue every 8th time only.
/// Power cut  stop() makes the workers leave although the kernel has the mount still open.
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
    /// All workers have left by themselves.
    [[nodiscard]] bool has_ended() const { return working_.load() == 0; }
    /// The errno a worker met, 0 when none did.
    [[nodiscard]] int error() const { return error_.load(); }
    /// Makes the workers leave and waits for them.
    void stop();

private:
    void work();
    /// Parks a worker that is not needed; false: it is time to leave.
    [[nodiscard]] bool wait_until_needed();
    /// Called with a request in hand.
    void note_depth();
    [[nodiscard]] bool request_waits() const;
    void look_for_a_request();
    void unpark_all();

    fuse_session* session_;
    unsigned threads_;
    std::function<void()> on_end_;
    std::atomic<unsigned> working_{0};
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
