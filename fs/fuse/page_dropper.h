/// Tells the kernel to drop pages that a direct write made stale, then answers the write.
///
/// Idea       It has a thread of its own. To drop a page the kernel waits for the lock of a page that is being read. Such reads are answered by the
///            workers and the delay queue, so these must not wait for the drop.
/// Invariant  The pages are gone before the writer sees its write finished. Answers leave in the order in which they came.
/// Cost       Two wake-ups and a system call; only for writes of which the kernel may have cached pages (KernelPages).
/// Power cut  Writes that wait here were carried out, and they are answered. The workers serve until finish() has returned: an unanswered read would
///            hold the thread.
/// Threading  drop_and_answer from any thread; `dropped` runs on the dropper's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/id.h"
#include "fs/fuse/fuse_api.h"

namespace flashlab {

class PageDropper {
public:
    struct DirectWrite {
        Ino ino;
        std::uint64_t offset;
        std::uint64_t bytes;
    };
    explicit PageDropper(std::function<void(Ino)> dropped) : dropped_{std::move(dropped)} {}
    ~PageDropper() { finish(); }
    PageDropper(const PageDropper&) = delete;
    PageDropper& operator=(const PageDropper&) = delete;

    /// Must be called before the first request.
    void start(fuse_session* session);
    void drop_and_answer(fuse_req_t request, const DirectWrite& write);
    /// Drops pages for which no write waits, and the file's attributes, which hold its size.
    void drop(const DirectWrite& pages);
    /// Serves the writes that are waiting, then ends the thread.
    void finish();

private:
    struct Waiting {
        fuse_req_t request; ///< null: nobody waits
        DirectWrite write;
    };
    void loop();

    std::function<void(Ino)> dropped_;
    fuse_session* session_ = nullptr;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<Waiting> waiting_;
    bool finishing_ = false;
    std::thread thread_;
};

} // namespace flashlab
