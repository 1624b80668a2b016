#include <csignal>

#include "tools/cli/command_line.h"
#include "tools/host/standard_streams.h"

namespace {

/// The host's limit on the size of a file (ulimit -f), which kills who writes beyond it.
///
/// Idea       The signal SIGXFSZ gets a handler that does nothing. The write then fails with EFBIG, and the command says which file it could not
///            write, instead of dying in the middle of an image. A handler, unlike an ignored signal, does not outlive exec: programs that are run
///            for the user still meet the limit as they would without us.
/// Invariant  A process that ignores the signal already goes on to do so.
/// Cost       Two system calls at the start.
void let_writes_fail_at_the_size_limit() {
    struct sigaction action {};
    if (::sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGXFSZ, &action, nullptr);
}

} // namespace

int main(int argc, char** argv) {
    flashlab::open_missing_streams();
    let_writes_fail_at_the_size_limit();
    return flashlab::run_command_line(argc, argv);
}
