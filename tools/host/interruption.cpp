#include "tools/host/interruption.h"

#include <cerrno>
#include <ctime>

namespace flashlab {
namespace {

constexpr long long of_one_sender_ms = 500;

/// clock_gettime(2) may be called in a handler.
long long now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

} // namespace

Interruption::Interruption() {
    first_ = 0;
    struct sigaction action {};
    action.sa_handler = &Interruption::note; // without SA_RESTART: a read that waits for a pipe ends, too
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < noted.size(); ++i) {
        ::sigaction(noted[i], nullptr, &before_[i]);
        if (noted[i] != SIGHUP || before_[i].sa_handler != SIG_IGN) ::sigaction(noted[i], &action, nullptr);
    }
}

Interruption::~Interruption() {
    for (std::size_t i = 0; i < noted.size(); ++i) ::sigaction(noted[i], &before_[i], nullptr);
}

std::string_view Interruption::name() {
    switch (signal()) {
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    case SIGHUP:
        return "SIGHUP";
    case SIGPIPE:
        return "SIGPIPE";
    default:
        return "nothing";
    }
}

void Interruption::note(int signal) {
    const int saved = errno;
    int none = 0;
    if (first_.compare_exchange_strong(none, signal)) {
        first_ms_ = now_ms();
    } else if (signal != SIGPIPE && now_ms() - first_ms_ >= of_one_sender_ms) {
        ::signal(signal, SIG_DFL);
        ::raise(signal); // when this handler has returned
    }
    errno = saved;
}

} // namespace flashlab
