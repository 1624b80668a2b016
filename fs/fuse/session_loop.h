/// The threads that take requests from the kernel.
///
/// Idea       Each worker reads and serves one request after another; nothing is handed between threads.
/// Invariant  A worker leaves only between requests.
/// Cost       One read and one writev per request, libfuse's own; no poll, no hand-over.
/// Power cut  stop() makes the workers leave although the kernel has the mount still open.
/// Threading  start, stop and join from one thread; workers serve concurrently.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

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

    fuse_session* session_;
    unsigned threads_;
    std::function<void()> on_end_;
    std::atomic<unsigned> working_{0};
    std::atomic<int> error_{0};
    std::vector<std::thread> workers_;
};

} // namespace flashlab
