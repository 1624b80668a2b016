#include "fs/fuse/session_loop.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "fs/fuse/fuse_api.h"

namespace flashlab {

namespace {

/// Interrupts a worker's read of /dev/fuse. Without SA_RESTART, so that the read comes back and the worker sees that it should leave.
const int wake_signal = SIGUSR2;

void install_wake_handler() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(wake_signal, &action, nullptr);
}

} // namespace

SessionLoop::SessionLoop(fuse_session* session, unsigned threads, std::function<void()> on_end)
    : session_{session}, threads_{threads}, on_end_{std::move(on_end)} {}

SessionLoop::~SessionLoop() {
    stop();
}

void SessionLoop::start() {
    install_wake_handler();
    working_ = threads_;
    for (unsigned index = 0; index < threads_; ++index) workers_.emplace_back([this] { work(); });
}

void SessionLoop::work() {
    fuse_buf buffer{};
    while (fuse_session_exited(session_) == 0) {
        const int got = fuse_session_receive_buf(session_, &buffer);
        if (got == -EINTR || got == -EAGAIN) continue;
        if (got <= 0) {
            if (got < 0) error_ = -got;
            break;
        }
        fuse_session_process_buf(session_, &buffer);
    }
    std::free(buffer.mem); // libfuse allocated it with malloc at the first receive
    fuse_session_exit(session_);
    --working_;
    on_end_();
}

void SessionLoop::stop() {
    fuse_session_exit(session_);
    // A signal that comes just before the read would be lost: knock until all have left.
    while (!has_ended()) {
        for (std::thread& worker : workers_) pthread_kill(worker.native_handle(), wake_signal);
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    for (std::thread& worker : workers_) {
        if (worker.joinable()) worker.join();
    }
    workers_.clear();
}

} // namespace flashlab
