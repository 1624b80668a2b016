#include "tools/grade/isolated.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "tools/host/child_process.h"

namespace flashlab {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// What the child's result begins with. Without it the child has not come to its end.
constexpr std::string_view returned = "returned:", thrown = "thrown:";

void limit(int resource, rlim_t soft, rlim_t hard) {
    const rlimit both{soft, hard};
    (void)::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t wrote = ::write(file, text.data(), text.size());
        if (wrote <= 0) ::_exit(1);
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

[[noreturn]] void live_as_child(const std::function<std::string()>& work, const IsolationLimits& limits, int result, int printed) {
    (void)::dup2(printed, STDOUT_FILENO);
    (void)::dup2(printed, STDERR_FILENO);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2); // first with a signal that says why
    limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
    ::signal(SIGXFSZ, SIG_IGN); // printing too much fails, and ends nothing
    if (!is_sanitized) limit(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
    std::string text;
    try {
        text = std::string{returned} + work();
    } catch (const ContractViolation& broken) {
        text = fmt::format("{}contract: {}: {}", thrown, broken.place(), broken.what());
    } catch (const std::exception& error) {
        text = fmt::format("{}exception: {}", thrown, error.what());
    } catch (...) {
        text = fmt::format("{}an exception of no known type", thrown);
    }
    write_all(result, text);
    ::_exit(0); // no destructors of what the code has left behind
}

/// The last line that is not empty, without what a terminal would take for commands.
std::string last_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    text.erase(0, text.rfind('\n') + 1);
    std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    return text.substr(0, 200);
}

enum class Ended : std::uint8_t { by_itself, too_late, idle };

/// The CPU time that a process has used; the last one known where it has ended.
std::int64_t cpu_ns(pid_t child, std::int64_t last) {
    clockid_t clock = 0;
    timespec used{};
    if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return last;
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

/// Waits as long as the child may live, then ends it.
Ended end_of(pid_t child, const IsolationLimits& limits, int& status) {
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    pollfd ends{.fd = handle, .events = POLLIN, .revents = 0};
    Ended ended = Ended::by_itself;
    std::int64_t used = 0;
    for (std::uint32_t second = 0, idle = 0; handle >= 0; ++second) {
        int got = 0;
        while ((got = ::poll(&ends, 1, 1'000)) < 0 && errno == EINTR) {}
        if (got > 0) break;
        const std::int64_t before = std::exchange(used, cpu_ns(child, used));
        idle = used == before ? idle + 1 : 0;
        ended = idle >= limits.idle_seconds ? Ended::idle : second >= 10 * limits.cpu_seconds ? Ended::too_late : Ended::by_itself;
        if (ended == Ended::by_itself) continue;
        (void)::kill(child, SIGKILL);
        break;
    }
    if (handle >= 0) ::close(handle);
    status = wait_for(child);
    return ended;
}

std::string how_it_ended(int status, Ended ended, const IsolationLimits& limits) {
    if (ended == Ended::idle) return fmt::format("does not end: stopped after it had waited for {} seconds", limits.idle_seconds);
    if (ended == Ended::too_late) return fmt::format("does not end: stopped after {} seconds", limits.cpu_seconds * 10);
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        if (signal == SIGXCPU) return fmt::format("does not end: stopped after {} seconds of CPU", limits.cpu_seconds);
        return fmt::format("ends with signal {} ({})", signal, ::strsignal(signal));
    }
    return fmt::format("ends the process with exit code {}", WEXITSTATUS(status));
}

} // namespace

std::expected<std::string, std::string> isolated(const std::function<std::string()>& work, const IsolationLimits& limits) {
    const int result = ::memfd_create("result", MFD_CLOEXEC);
    const int printed = ::memfd_create("printed", MFD_CLOEXEC);
    const pid_t child = result < 0 || printed < 0 ? -1 : start_child([&] { live_as_child(work, limits, result, printed); });
    if (child < 0) {
        const int why = errno;
        for (const int file : {result, printed})
            if (file >= 0) ::close(file);
        return std::unexpected(fmt::format("no process can be started: {}", std::strerror(why)));
    }
    int status = 0;
    const Ended ended = end_of(child, limits, status);
    const std::string text = take_text(result);
    const std::string said = last_line(take_text(printed));
    if (text.starts_with(returned)) return text.substr(returned.size());
    if (text.starts_with(thrown)) return std::unexpected(text.substr(thrown.size()));
    return std::unexpected(how_it_ended(status, ended, limits) + (said.empty() ? "" : fmt::format("; it said: {}", said)));
}

} // namespace flashlab
