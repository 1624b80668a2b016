/// flashlab umount: takes the name away, then waits until the daemon has closed the device. Who else holds the mount is named.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fs/fuse/control_socket.h"
#include "tools/cli/command_options.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_history.h"
#include "tools/host/complaint.h"
#include "tools/live/live_mount.h"

namespace flashlab {
namespace {

struct UmountOptions {
    std::string target;
    double timeout_s = 600; ///< for the daemon to write back, and for other holders to release the mount
};

using Clock = std::chrono::steady_clock;

struct Unmounted {
    int code = 0;
    std::string words; ///< what fusermount3 complained of
};

std::expected<Unmounted, std::string> call_fusermount(const std::string& mount_point, Clock::time_point latest) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::unexpected(std::string{std::strerror(errno)});
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe[1], STDERR_FILENO);
        ::execlp("fusermount3", "fusermount3", "-u", "--", mount_point.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(pipe[1]);
    Unmounted done;
    std::array<char, 512> buffer{};
    const auto ends_in_time = [&] {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(latest - Clock::now());
        pollfd watch{.fd = pipe[0], .events = POLLIN, .revents = 0};
        return ::poll(&watch, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000))) != 0;
    };
    bool has_ended = false;
    while (!has_ended && ends_in_time()) {
        const ssize_t n = ::read(pipe[0], buffer.data(), buffer.size());
        has_ended = n == 0 || (n < 0 && errno != EINTR);
        done.words.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    ::close(pipe[0]);
    if (!has_ended) // it hangs in the kernel, and ends when the daemon answers
        return std::unexpected(std::string{"its daemon does not answer the kernel: it is stopped or very busy; the unmount goes on when it answers"});
    while (!done.words.empty() && done.words.back() == '\n') done.words.pop_back();
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0) return std::unexpected(std::string{std::strerror(errno)});
    done.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (WIFSIGNALED(status)) return std::unexpected(fmt::format("fusermount3 died of signal {}", WTERMSIG(status)));
    return done;
}

/// Where fusermount3 is not installed: root needs none.
Unmounted unmount_as_root(const std::string& mount_point) {
    if (::umount2(mount_point.c_str(), UMOUNT_NOFOLLOW) == 0) return {};
    return errno == EPERM ? Unmounted{.code = 127, .words = {}} : Unmounted{.code = 1, .words = std::strerror(errno)};
}

/// A mount is busy while somebody only looks at it, as each command of ours does that searches for a drive. That lasts a moment.
std::expected<Unmounted, std::string> unmount(const std::string& mount_point, double timeout_s) {
    constexpr double least_s = 2; // a daemon that is not stopped answers in this time
    const auto latest = Clock::now() + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>{std::max(timeout_s, least_s)});
    for (const auto until = Clock::now() + std::chrono::seconds{1};; std::this_thread::sleep_for(std::chrono::milliseconds{20})) {
        auto done = call_fusermount(mount_point, latest);
        if (done && done->code == 127) done = unmount_as_root(mount_point);
        const bool is_busy = done && done->words.find("busy") != std::string::npos;
        if (!is_busy || Clock::now() > until) return done;
    }
}

/// "on /mnt in the mount namespace of process 12 (sh)": who has it mounted, beside this namespace if `others_only`.
std::vector<std::string> described(const std::vector<MountHolder>& holders, bool others_only) {
    std::vector<std::string> texts;
    for (const MountHolder& h : holders) {
        if (h.process != 0)
            texts.push_back(fmt::format("on {} in the mount namespace of process {} ({})", h.mount_point, h.process, h.name));
        else if (!others_only)
            texts.push_back(fmt::format("on {}", h.mount_point));
    }
    return texts;
}

int not_unmounted(const MountEntry& mount, const Unmounted& done) {
    if (done.code == 127) return complain("umount: fusermount3 is not installed, and only root needs none; install the package fuse3");
    const auto elsewhere = described(who_else_has(mount.device, mount.listed), true);
    if (done.words.find("busy") == std::string::npos)
        return complain(fmt::format("umount: {}: {}: only who mounted it, or root, can unmount it, and in the mount namespace where it was mounted",
                                    mount.mount_point, done.words));
    const std::string also = elsewhere.empty() ? "" : fmt::format("; it is mounted, and perhaps in use, also {}", fmt::join(elsewhere, ", "));
    return complain(fmt::format("umount: {0} is busy: close the files in use there ('fuser -vm {0}' shows them){1}", mount.mount_point, also));
}

/// Who still holds a mount whose name is gone from here; empty: nobody, the daemon is writing back.
std::string holder_of(const MountEntry& mount) {
    const auto holders = described(who_else_has(mount.device, mount.listed), false);
    if (!holders.empty()) return fmt::format("it is still mounted {}; unmount it there", fmt::join(holders, ", "));
    return is_served(mount.source) ? "somebody still holds it: a mount namespace that this user cannot see, or open files" : "";
}

/// A mount that only looked has nothing to write back, and others may look on: its daemon has to end, and that is all. `looker` is its socket.
int wait_until_closed(const MountEntry& mount, const std::string& looker, double timeout_s) {
    const auto start = Clock::now();
    bool said = false;
    while (is_in_use(mount.source) && (looker.empty() || is_listening(looker))) {
        const double waited = std::chrono::duration<double>(Clock::now() - start).count();
        if (waited > timeout_s || (!said && waited > 2)) {
            const std::string holder = holder_of(mount);
            if (waited > timeout_s)
                return holder.empty() ? complain(fmt::format("umount: the daemon of {} is still writing back after {} s", mount.source, timeout_s))
                                      : complain(fmt::format("umount: {}: is unmounted here, but {}", mount.mount_point, holder), exit_held);
            complain(fmt::format("umount: {}: is unmounted here; waiting, {} s at most: {}", mount.mount_point, timeout_s,
                                 holder.empty() ? "its daemon is writing back, or is stopped" : holder));
            said = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return exit_done;
}

/// The daemon closes its log of failures after the images, and a disk that holds it cannot be unmounted before.
class Daemon {
public:
    explicit Daemon(const std::string& socket) {
        if (const pid_t process = listener_of(socket); process != 0) process_ = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    }
    ~Daemon() {
        if (process_ >= 0) ::close(process_);
    }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    /// For a moment: a program that mounts by itself may go on.
    void wait_for_its_end() const {
        pollfd watch{.fd = process_, .events = POLLIN, .revents = 0};
        if (process_ >= 0) (void)::poll(&watch, 1, 2000);
    }

private:
    int process_ = -1;
};

int run_umount(const UmountOptions& o) {
    const auto mounted = find_mount(o.target);
    if (!mounted) return complain(fmt::format("umount: {}: no FlashLab device is mounted here", o.target));
    const std::string socket = control_socket_of(*mounted);
    const Daemon daemon{socket};
    const bool is_written = use_of_images(mounted->source) == ImageUse::written;
    const std::string looker = is_written ? "" : socket;
    const auto done = unmount(mounted->mount_point, o.timeout_s);
    if (!done) return complain(fmt::format("umount: {}", done.error()));
    const auto still = done->code == 0 ? std::nullopt : find_mount(o.target); // none: it went by itself, by a cut, say
    if (still && still->device == mounted->device) return not_unmounted(*mounted, *done);
    if (const int code = wait_until_closed(*mounted, looker, o.timeout_s); code != exit_done) return code;
    daemon.wait_for_its_end();
    // The daemon writes the counters last, and takes its mark out of them when all is closed.
    if (const auto history = DeviceHistory::read(mounted->source); is_written && history && history->in_use)
        return complain(fmt::format("umount: {0}: is unmounted, but was not closed cleanly: what was not synced may be lost; {1} or the syslog say "
                                    "why, the next mount recovers",
                                    mounted->source, failure_log_path(mounted->source)));
    return exit_done;
}

} // namespace

void add_umount(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_umount, "umount", "Unmount and wait until the images are clean", "flashlab umount /mnt");
    c.add_option("MNT", o.target, "Mount point, or its device directory")->required();
    c.add_option("--timeout", o.timeout_s,
                 "Seconds to wait until the images are clean; ends with 3 where somebody else still holds the mount then, else with 1. That files "
                 "are in use there is told after a second")
        ->check(CLI::Range(0.0, 86400.0))
        ->capture_default_str();
}

} // namespace flashlab
