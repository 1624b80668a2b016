#include "tools/host/signals_held.h"

#include <initializer_list>

#include <poll.h>

namespace flashlab {

SignalsHeld::SignalsHeld() {
    sigset_t held{};
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
}

void SignalsHeld::release() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

bool SignalsHeld::wait_for(int fd) const {
    pollfd watch{.fd = fd, .events = POLLIN, .revents = 0};
    return ::ppoll(&watch, 1, nullptr, &before_) > 0;
}

} // namespace flashlab
