/// Requests through io_uring instead of read and write of /dev/fuse: a queue and a thread of libfuse's for each processor.
///
/// Idea       The kernel hands a request to the thread of the caller's own processor, and takes the answer with the next wait: one system call a
///            request instead of two. The kernel and libfuse must both know it. If one of them does not, all goes on through /dev/fuse.
/// Invariant  A request of a ring is answered by the thread that got it: libfuse 3.18 adds to a ring without the lock under which another thread
///            would add. So no answer of such a mount waits for simulated time (MountConfig::io_ring), and a stalled answer waits in its thread.
///            A thread of a ring is never cancelled inside a handler.
/// Cost       A look at a variable of the thread for each request.
/// Power cut  The rings serve on and answer EIO, until end().
/// Threading  note() from any thread; the rest from the thread that made the session.
/// Source     Documentation/filesystems/fuse/fuse-io-uring.rst of Linux 6.14.
#pragma once

#include <atomic>
#include <string>

#include "fs/fuse/fuse_api.h"

namespace flashlab {

class IoRing {
public:
    /// Words for fuse_session_new; empty: this libfuse has none.
    [[nodiscard]] static std::string session_options();
    /// Is this request one of a ring, so that no other thread may answer it?
    [[nodiscard]] static bool has(fuse_req_t request);

    void ask_for() { asked_ = true; }
    /// On INIT: takes what the kernel offers.
    void negotiate(fuse_conn_info* connection);
    /// Called at the beginning of each handler.
    void note(fuse_req_t request) {
        thread_local bool is_known = false;
        if (is_known) return;
        is_known = true;
        note_thread(request);
    }
    /// Asks the mount a few questions that need no work, until one comes through a ring.
    void look(const std::string& mount_point);
    /// True: requests come through rings.
    [[nodiscard]] bool serves() const { return serves_.load(std::memory_order_relaxed); }
    /// Why rings were asked for and do not serve; empty: they were not, or they do.
    [[nodiscard]] std::string why_not() const;
    /// Ends the threads of the rings. No answer may be outstanding.
    void end(fuse_session* session);

private:
    void note_thread(fuse_req_t request);

    bool asked_ = false, offered_ = false, ended_ = false;
    std::atomic<bool> serves_{false};
};

} // namespace flashlab
