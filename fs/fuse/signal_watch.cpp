#include "fs/fuse/signal_watch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// A signal handler has no argument of ours: the only process-wide state of this folder.
std::atomic<int> event_of_handler{-1};
std::atomic<bool> signal_came{false};

void on_signal(int) {
    const int saved = errno;
    signal_came = true;
    const int event = event_of_handler;
    if (event >= 0) eventfd_write(event, 1);
    errno = saved;
}

} // namespace

SignalWatch::SignalWatch() : event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    ensure(event_ >= 0, "SignalWatch: a descriptor is left for an eventfd");
    ensure(event_of_handler == -1, "SignalWatch: one at a time");
    event_of_handler = event_;
    signal_came = false;
    for (std::size_t index = 0; index < std::size(watched); ++index) {
        struct sigaction action {};
        action.sa_handler = watched[index] == SIGPIPE ? SIG_IGN : on_signal;
        action.sa_flags = SA_RESTART; // only this watch wakes up, no worker's system call does
        sigaction(watched[index], &action, &before_[index]);
    }
}

SignalWatch::~SignalWatch() {
    for (std::size_t index = 0; index < std::size(watched); ++index) sigaction(watched[index], &before_[index], nullptr);
    event_of_handler = -1;
    close(event_);
}

bool SignalWatch::wait_until(std::chrono::steady_clock::time_point time, int table) {
    using namespace std::chrono;
    const auto wait = std::max(ceil<milliseconds>(time - steady_clock::now()), milliseconds{0});
    pollfd watch[] = {{.fd = event_, .events = POLLIN, .revents = 0}, {.fd = table, .events = POLLPRI, .revents = 0}};
    if (poll(watch, std::size(watch), static_cast<int>(std::min<milliseconds::rep>(wait.count(), 60'000))) <= 0) return false;
    eventfd_t count = 0;
    if (watch[0].revents != 0) eventfd_read(event_, &count);
    return watch[1].revents != 0;
}

void SignalWatch::wake() const { eventfd_write(event_, 1); }

bool SignalWatch::signalled() const { return signal_came; }

} // namespace flashlab
