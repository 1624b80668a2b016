#include "tools/host/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flashlab {

pid_t start_child(const std::function<void()>& live) {
    std::fflush(nullptr); // a child inherits what is not written yet
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1); // it ended before it was asked for
    live();
    ::_exit(1);
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

std::string take_text(int file) {
    std::string text;
    std::array<char, 65536> piece{};
    (void)::lseek(file, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(file, piece.data(), piece.size())) > 0;) text.append(piece.data(), static_cast<std::size_t>(got));
    ::close(file);
    return text;
}

} // namespace flashlab
