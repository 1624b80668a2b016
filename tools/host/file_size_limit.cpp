#include "tools/host/file_size_limit.h"

#include <csignal>

namespace flashlab {

void let_writes_fail_at_the_size_limit() {
    struct sigaction action {};
    if (::sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGXFSZ, &action, nullptr);
}

} // namespace flashlab
