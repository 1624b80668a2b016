#include "tools/explore/left_behind.h"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flashlab {

namespace {

/// Orphans come to the first thread.
std::vector<pid_t> adopted() {
    std::ifstream file{fmt::format("/proc/self/task/{}/children", ::getpid())};
    return {std::istream_iterator<pid_t>{file}, {}};
}

bool has_variable(pid_t process, const std::string& variable) {
    std::ifstream file{fmt::format("/proc/{}/environ", process)};
    for (std::string one; std::getline(file, one, '\0');)
        if (one == variable) return true;
    return false;
}

} // namespace

LeftBehind::LeftBehind() { (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int LeftBehind::wait(pid_t child) {
    const std::lock_guard lock{mutex_}; // its number may be another's as soon as it is waited for
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    running_.erase(child);
    return status;
}

bool LeftBehind::is_running(pid_t child) {
    const std::lock_guard lock{mutex_};
    return running_.contains(child);
}

void LeftBehind::end_those_with(const std::string& variable) {
    const std::unique_lock nobody_starts{starting_};
    for (bool again = true; again;) { // with each, its children become orphans
        again = false;
        for (const pid_t process : adopted()) {
            if (is_running(process) || ::waitpid(process, nullptr, WNOHANG) == process || !has_variable(process, variable)) continue;
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
            again = true;
        }
    }
}

} // namespace flashlab
