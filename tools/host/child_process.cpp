#include "tools/host/child_process.h"

#include <array>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace flashlab {

void begin_child(pid_t parent) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1); // it ended before it was asked for
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
