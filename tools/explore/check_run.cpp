#include "tools/explore/check_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/host/interruption.h"

extern char** environ;

namespace flashlab {

namespace {

/// The inherited variables with those of the call.
std::vector<std::string> environment_of(const CheckCall& call) {
    std::vector<std::string> all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        const auto is_same = [&](const auto& added) { return text.starts_with(added.first + "="); };
        if (std::ranges::none_of(call.environment, is_same)) all.push_back(text);
    }
    for (const auto& [name, value] : call.environment) all.push_back(name + "=" + value);
    return all;
}

pid_t spawn(const CheckCall& call) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, call.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, call.directory.c_str());
    sigset_t defaults, none;
    sigemptyset(&defaults);
    sigemptyset(&none);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    std::vector<std::string> variables = environment_of(call);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::array<std::string, 3> words{"sh", "-c", call.command};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t child = -1;
    if (::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environment.data()) != 0) child = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return child;
}

} // namespace

CheckVerdict run_check(const CheckCall& call) {
    const pid_t child = spawn(call);
    if (child < 0) return {CheckEnd::not_started, 127};
    const int watched = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    const auto until = std::chrono::steady_clock::now() + call.limit;
    CheckEnd cut_short = CheckEnd::passed;
    while (watched >= 0) {
        pollfd wait{watched, POLLIN, 0};
        if (::poll(&wait, 1, 100) > 0) break;
        if (Interruption::came()) cut_short = CheckEnd::interrupted;
        if (call.limit.count() != 0 && std::chrono::steady_clock::now() > until) cut_short = CheckEnd::timed_out;
        if (cut_short != CheckEnd::passed) break;
    }
    if (watched >= 0) ::close(watched);
    if (watched >= 0) ::kill(-child, SIGKILL); // the group, with what the check left behind; the number is not free before waitpid()
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (cut_short != CheckEnd::passed) return {cut_short, 128 + SIGKILL};
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code == 0 ? CheckEnd::passed : CheckEnd::failed, code};
}

} // namespace flashlab
