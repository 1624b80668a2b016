#include "tools/explore/check_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/explore/plain_command.h"
#include "tools/host/child_process.h"
#include "tools/host/interruption.h"

extern char** environ;

namespace flashlab {

namespace {

/// What checks left running when they ended: processes in sessions of their own, which the end of a process group does not meet.
///
/// Idea       This process adopts the orphans among its descendants (PR_SET_CHILD_SUBREAPER). Whose they are their environment says.
/// Invariant  Only orphans are ended, and only those of the check that is over: a server that another check started lives until that one ends.
/// Cost       One read of /proc a check. Where the kernel does not list children there, nothing is ended.
/// Threading  Any number of threads start and end checks.
class LeftBehind {
public:
    /// From now on orphans come to this process.
    LeftBehind();
    /// `spawn` returns the process that it started; -1: none.
    template <class Spawn>
    [[nodiscard]] pid_t start(const Spawn& spawn) {
        const std::shared_lock starting{starting_};
        const pid_t child = spawn();
        const std::lock_guard lock{mutex_};
        if (child > 0) running_.insert(child);
        return child;
    }
    /// The status of a started process, which is ending.
    [[nodiscard]] int wait(pid_t child);
    /// Ends the orphans whose environment has this variable, such as "NAME=value", and takes leave of those that have ended.
    void end_those_with(const std::string& variable);

private:
    [[nodiscard]] bool is_running(pid_t child);

    std::shared_mutex starting_; ///< exclusive: no process comes that is not in running_ yet
    std::mutex mutex_;
    std::set<pid_t> running_; ///< what start() started: whoever did waits for it
};

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

LeftBehind::LeftBehind() { (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int LeftBehind::wait(pid_t child) {
    const std::lock_guard lock{mutex_}; // its number may be another's as soon as it is waited for
    const int status = wait_for(child);
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

constexpr const char* directory_variable = "FLASHLAB_MOUNT"; ///< tells the processes of one check from those of another

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The inherited variables with those that are set, of which the later wins. PWD as a shell would set it.
std::vector<std::string> environment_of(const CheckCall& call, const Variables& assigned) {
    Variables set{{"PWD", call.directory}, {directory_variable, call.directory}};
    for (const Variables* some : {&call.environment, &assigned})
        for (const auto& variable : *some) {
            std::erase_if(set, [&](const auto& earlier) { return earlier.first == variable.first; });
            set.push_back(variable);
        }
    std::vector<std::string> all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const auto is_same = [&](const auto& s) { return text.starts_with(s.first) && text.size() > s.first.size() && text[s.first.size()] == '='; };
        if (std::ranges::none_of(set, is_same)) all.emplace_back(text);
    }
    for (const auto& [name, value] : set) all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Without a shell where the line is a program and its words. Where that cannot be started, the shell has its way of saying so, or of running it.
pid_t spawn_command(const CheckCall& call, const posix_spawn_file_actions_t& actions, const posix_spawnattr_t& attributes) {
    pid_t child = -1;
    if (auto plain = plain_command(call.command)) {
        std::vector<std::string> variables = environment_of(call, plain->assignments);
        if (::posix_spawnp(&child, plain->words.front().c_str(), &actions, &attributes, pointers_to(plain->words).data(),
                           pointers_to(variables).data()) == 0)
            return child;
    }
    std::vector<std::string> variables = environment_of(call, {}), words{"sh", "-c", call.command};
    return ::posix_spawn(&child, "/bin/sh", &actions, &attributes, pointers_to(words).data(), pointers_to(variables).data()) == 0 ? child : -1;
}

pid_t spawn(const CheckCall& call, const CheckPipes& pipes) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    if (pipes.input < 0)
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    else
        ::posix_spawn_file_actions_adddup2(&actions, pipes.input, 0);
    const auto opens = [&](int descriptor, const std::string& file) {
        ::posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    };
    opens(pipes.output < 0 ? 1 : 2, call.output);
    if (pipes.output >= 0)
        ::posix_spawn_file_actions_adddup2(&actions, pipes.output, 1);
    else if (call.errors.empty())
        ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    else
        opens(2, call.errors);
    ::posix_spawn_file_actions_addopen(&actions, ignored_promises_fd, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addchdir_np(&actions, call.directory.c_str());
    sigset_t defaults, none;
    sigemptyset(&defaults);
    sigemptyset(&none);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const pid_t child = spawn_command(call, actions, attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return child;
}

/// The file is in memory mostly, and a check may print without end: all but the end of it is given back, and its size stays.
void forget_all_but_the_end(const std::string& output) {
    constexpr off_t kept = 1 << 20, most = 16 << 20;
    struct stat found {};
    if (::stat(output.c_str(), &found) != 0 || found.st_blocks * 512 < most) return;
    const int file = ::open(output.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, found.st_size - kept); // where the file system cannot, it grows
    ::close(file);
}

/// Orphans come to the process as a whole.
LeftBehind& left_behind() {
    static LeftBehind all;
    return all;
}

} // namespace

std::unique_ptr<CheckProcess> CheckProcess::start(const CheckCall& call, const CheckPipes& pipes) {
    const pid_t child = left_behind().start([&] { return spawn(call, pipes); });
    return child < 0 ? nullptr : std::unique_ptr<CheckProcess>{new CheckProcess{child, call}};
}

CheckProcess::CheckProcess(pid_t child, const CheckCall& call)
    : child_{child}, output_{call.output}, errors_{call.errors}, mark_{fmt::format("{}={}", directory_variable, call.directory)}, limit_{call.limit},
      watched_{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))} {}

CheckProcess::~CheckProcess() {
    if (child_ >= 0) (void)end(CheckEnd::interrupted);
}

CheckEnd CheckProcess::wait(int answers) {
    const auto until = std::chrono::steady_clock::now() + limit_;
    while (watched_.get() >= 0) {
        std::array<pollfd, 2> waits{{{watched_.get(), POLLIN, 0}, {answers, POLLIN, 0}}}; // one below 0 is not looked at
        if (::poll(waits.data(), waits.size(), 20) > 0) break;
        forget_all_but_the_end(output_);
        if (!errors_.empty()) forget_all_but_the_end(errors_);
        if (Interruption::came()) return CheckEnd::interrupted;
        if (limit_.count() != 0 && std::chrono::steady_clock::now() > until) return CheckEnd::timed_out;
    }
    return CheckEnd::passed;
}

CheckVerdict CheckProcess::end(CheckEnd cut_short) {
    if (watched_.get() >= 0) ::kill(-child_, SIGKILL); // the group, with what the check left behind; the number is not free before waitpid()
    const int status = left_behind().wait(std::exchange(child_, -1));
    left_behind().end_those_with(mark_); // in sessions of their own
    const std::string& complaints = errors_.empty() ? output_ : errors_;
    if (cut_short == CheckEnd::timed_out)
        std::ofstream{complaints, std::ios::app} << fmt::format("\nit took longer than {} s\n", std::chrono::duration<double>(limit_).count());
    if (cut_short != CheckEnd::passed) return {cut_short, 128 + SIGKILL};
    if (WIFSIGNALED(status)) std::ofstream{complaints, std::ios::app} << ::strsignal(WTERMSIG(status)) << '\n'; // as a shell would say
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code == 0 ? CheckEnd::passed : CheckEnd::failed, code};
}

} // namespace flashlab
