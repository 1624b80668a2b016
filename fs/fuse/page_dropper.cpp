#include "fs/fuse/page_dropper.h"

namespace flashlab {

void PageDropper::start(fuse_session* session) {
    session_ = session;
    thread_ = std::thread{[this] { loop(); }};
}

void PageDropper::drop_and_answer(fuse_req_t request, const DirectWrite& write) {
    {
        const std::lock_guard held{lock_};
        if (!finishing_) {
            waiting_.push_back({request, write});
            changed_.notify_one();
            return;
        }
    }
    fuse_reply_write(request, write.bytes); // the mount ends: the kernel's pages go with it
}

void PageDropper::drop(const DirectWrite& pages) {
    const std::lock_guard held{lock_};
    if (finishing_) return;
    waiting_.push_back({nullptr, pages});
    changed_.notify_one();
}

void PageDropper::finish() {
    {
        const std::lock_guard held{lock_};
        finishing_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
}

void PageDropper::loop() {
    std::unique_lock held{lock_};
    for (;;) {
        changed_.wait(held, [this] { return finishing_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const Waiting next = waiting_.front();
        waiting_.pop_front();
        held.unlock();
        const auto [ino, offset, bytes] = next.write;
        fuse_lowlevel_notify_inval_inode(session_, ino.value(), static_cast<off_t>(offset), static_cast<off_t>(bytes));
        dropped_(ino);
        if (next.request != nullptr) fuse_reply_write(next.request, bytes);
        held.lock();
    }
}

} // namespace flashlab
