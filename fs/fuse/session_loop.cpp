#include "fs/fuse/session_loop.h"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "fs/fuse/fuse_api.h"
#include "fs/fuse/request_buffer.h"

namespace flashlab {

namespace {

/// Interrupts a worker's read of /dev/fuse. Without SA_RESTART, so that the read comes back and the worker sees that it should leave.
const int wake_signal = SIGUSR2;

constexpr unsigned depth_check_interval = 8; ///< requests between two looks at a queue that was deep
constexpr unsigned shallow_after = 512;      ///< requests without another behind them

void install_wake_handler() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(wake_signal, &action, nullptr);
}

} // namespace

SessionLoop::SessionLoop(fuse_session* session, unsigned threads, std::function<void()> on_end)
    : session_{session}, threads_{threads}, on_end_{std::move(on_end)} {}

SessionLoop::~SessionLoop() { stop(); }

void SessionLoop::start() {
    install_wake_handler();
    working_ = threads_;
    active_ = threads_;
    for (unsigned index = 0; index < threads_; ++index) workers_.emplace_back([this] { work(); });
}

void SessionLoop::work() {
    RequestBuffer buffer;
    while (wait_until_needed()) {
        look_for_a_request();
        const int got = fuse_session_receive_buf(session_, buffer.get());
        if (got == -EINTR || got == -EAGAIN) continue;
        if (got <= 0) {
            if (got < 0) error_ = -got;
            break;
        }
        note_depth();
        fuse_session_process_buf(session_, buffer.get());
        buffer.align();
    }
    leaving_ = true;
    unpark_all();
    --working_;
    on_end_();
}

bool SessionLoop::wait_until_needed() {
    if (!deep_.load(std::memory_order_relaxed) && threads_ > 1) {
        std::unique_lock held{lock_};
        if (active_ > 1) {
            --active_;
            unparked_.wait(held, [this] { return deep_.load() || is_over(); });
            ++active_;
        }
    }
    return !is_over();
}

bool SessionLoop::is_over() const { return leaving_.load(std::memory_order_relaxed) || fuse_session_exited(session_) != 0; }

void SessionLoop::note_depth() {
    if (threads_ == 1) return;
    const unsigned since = since_deep_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (deep_.load(std::memory_order_relaxed) && since % depth_check_interval != 0) return;
    if (request_waits()) {
        since_deep_.store(0, std::memory_order_relaxed);
        if (!deep_.exchange(true)) unpark_all();
    } else if (since >= shallow_after) {
        deep_.store(false, std::memory_order_relaxed);
    }
}

void SessionLoop::look_for_a_request() {
    if (deep_.load(std::memory_order_relaxed) || !spin_.may_spin()) return;
    const auto start = std::chrono::steady_clock::now();
    do {
        if (request_waits()) return spin_.succeeded();
    } while (std::chrono::steady_clock::now() - start < SpinBudget::longest && !is_over());
    spin_.failed();
}

bool SessionLoop::request_waits() const {
    pollfd device{.fd = fuse_session_fd(session_), .events = POLLIN, .revents = 0};
    return poll(&device, 1, 0) > 0; // an error counts too: reading tells which
}

void SessionLoop::unpark_all() {
    const std::lock_guard held{lock_};
    unparked_.notify_all();
}

void SessionLoop::stop() {
    leaving_ = true;
    unpark_all();
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
