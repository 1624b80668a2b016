#include "tools/sweep/sweep_child.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/host/child_process.h"

namespace flashlab {
namespace {

[[noreturn]] void live_as_child(const SweepChild& child, pid_t parent, const std::function<int(const std::vector<std::string>&)>& command) {
    begin_child(parent);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(child.out, STDOUT_FILENO) < 0 || ::dup2(child.error, STDERR_FILENO) < 0) ::_exit(1);
    ::close_range(STDERR_FILENO + 1, ~0u, 0); // the journal's lock among them
    const int code = command(child.run.command);
    ::_exit(std::fflush(nullptr) == 0 ? code : 1);
}

} // namespace

std::expected<SweepChild, std::string> start_sweep_child(const SweepRun& run, const std::function<int(const std::vector<std::string>&)>& command) {
    SweepChild child{.run = run};
    child.out = ::memfd_create("out", MFD_CLOEXEC);
    child.error = ::memfd_create("error", MFD_CLOEXEC);
    child.begin = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    std::fflush(nullptr); // a child inherits what is not written yet
    const pid_t parent = ::getpid();
    if (child.out >= 0 && child.error >= 0) child.process = ::fork();
    if (child.process == 0) live_as_child(child, parent, command);
    if (child.process > 0) return child;
    const int why = errno;
    for (const int file : {child.out, child.error})
        if (file >= 0) ::close(file);
    return std::unexpected(fmt::format("no process can be started: {}: give a smaller -j", std::strerror(why)));
}

} // namespace flashlab
