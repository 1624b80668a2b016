#include "tools/host/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/host/interruption.h"

namespace flashlab {

namespace {

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// The group in the foreground of the terminal is `group` from now on. Only the foreground may say so, unless it ignores the signal that asks.
void give_terminal_to(pid_t group) {
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGTTOU, &ignore, &before);
    ::tcsetpgrp(STDIN_FILENO, group);
    ::sigaction(SIGTTOU, &before, nullptr);
}

bool has_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

/// Runs in the child and never returns. The reason of a failure goes through the pipe. A successful exec closes the pipe.
[[noreturn]] void become(const SubprocessCall& call, int failed) {
    const bool takes_terminal = call.terminal == Terminal::lend && has_terminal();
    ::setpgid(0, 0);
    if (takes_terminal) give_terminal_to(::getpid());
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        if (struct sigaction now{}; ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
            ::signal(signal, SIG_DFL); // our handlers must not run between here and exec
    const auto give_up = [failed] {
        const int reason = errno;
        [[maybe_unused]] const auto told = ::write(failed, &reason, sizeof reason);
        ::_exit(127);
    };
    for (const auto& [name, value] : call.environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (!call.output.empty()) {
        const int to = ::open(call.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (to < 0) give_up();
        ::dup2(to, STDOUT_FILENO);
        ::dup2(to, STDERR_FILENO);
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    }
    if (call.standard_output == OutputTo::error) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!call.directory.empty() && ::chdir(call.directory.c_str()) != 0) give_up();
    std::vector<char*> words;
    for (const std::string& word : call.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    give_up();
    std::abort();
}

} // namespace

void take_terminal_back() {
    if (::isatty(STDIN_FILENO) == 1) give_terminal_to(::getpgrp());
}

std::expected<Subprocess, std::string> Subprocess::start(const SubprocessCall& call) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::unexpected(std::string{std::strerror(errno)});
    const pid_t child = ::fork();
    if (child == 0) become(call, pipe[1]);
    ::close(pipe[1]);
    int reason = child < 0 ? errno : 0;
    if (child > 0 && ::read(pipe[0], &reason, sizeof reason) != sizeof reason) reason = 0;
    ::close(pipe[0]);
    if (child > 0) ::setpgid(child, child); // done by the child, too: whichever comes first
    if (reason == 0) return Subprocess{child};
    if (child > 0) ::waitpid(child, nullptr, 0);
    const std::string& program = call.words.front();
    const bool is_from_there = !call.directory.empty() && program.front() != '/' && program.find('/') != std::string::npos;
    return std::unexpected(fmt::format("{}: {}{}", program, std::strerror(reason),
                                       is_from_there ? fmt::format(" in {}, where it is started: name it by an absolute path", call.directory) : ""));
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
    if (this != &other) {
        end(std::chrono::milliseconds{0});
        pid_ = std::exchange(other.pid_, -1);
    }
    return *this;
}

std::optional<int> Subprocess::poll() {
    int status = 0;
    if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    ::kill(-pid_, SIGKILL); // the processes that the child left behind
    pid_ = -1;
    return code_of(status);
}

int Subprocess::wait() {
    int status = 0;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
    return code_of(status);
}

void Subprocess::end(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (pid_ > 0 && std::chrono::steady_clock::now() < until) {
        if (poll()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    (void)wait();
}

int run_to_end(const SubprocessCall& call, AtSignal at_signal) {
    auto child = Subprocess::start(call);
    if (!child) return 127;
    if (at_signal == AtSignal::wait) return child->wait();
    for (auto pause = std::chrono::microseconds{200};; pause = std::min(pause * 2, std::chrono::microseconds{10'000})) {
        if (const auto code = child->poll()) return *code;
        if (Interruption::came()) return Interruption::exit_code(); // the destructor of `child` ends the group
        std::this_thread::sleep_for(pause);
    }
}

} // namespace flashlab
