/// flashlab mount: serves a drive as a directory.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_kind.h"
#include "tools/cli/command_options.h"
#include "tools/cli/commands/mount_words.h"
#include "tools/cli/commands/remount.h"
#include "tools/cli/failure_text.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/scheme_keys.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/private_file.h"
#include "tools/host/signals_held.h"
#include "tools/host/standard_streams.h"
#include "tools/live/live_mount.h"
#include "tools/live/mount_session.h"
#include "tools/log/event_level.h"
#include "tools/run/virtual_device.h"
#include "tools/text/shell_word.h"

namespace flashlab {
namespace {

struct MountOptions {
    std::string directory, mount_point;
    std::string latency = "off";
    std::optional<std::string> log; ///< default: summary, and none for a read-only mount
    std::uint64_t log_keep_bytes = std::uint64_t{1} << 30;
    std::vector<std::string> options;  ///< -o, commas already split
    std::vector<std::string> settings; ///< --set
    std::string record;                ///< --record
    bool foreground = false, read_only = false, as_file = false;
    bool sloppy = false; ///< -s of mount(8): unknown -o words are ignored
    bool fake = false;   ///< -f of mount(8): everything but the mount itself
};

std::expected<void, std::string> apply_level_and_latency(const std::string& log, const std::string& latency, MountSessionConfig& config) {
    const auto level = parse_event_level(log);
    if (!level) return std::unexpected(fmt::format("log {}: allowed: none, summary, requests, all", log));
    const auto mode = parse_latency(latency);
    if (!mode) return std::unexpected(fmt::format("latency {}: allowed: off, real, or a factor such as 10x", latency));
    config.open.log = *level;
    config.mount.latency = *mode;
    return {};
}

std::expected<MountSessionConfig, std::string> make_config(const MountOptions& o) {
    MountSessionConfig config;
    std::error_code error;
    config.directory = std::filesystem::canonical(o.directory, error).string();
    if (error) config.directory = o.directory;
    config.open.log_keep_bytes = o.log_keep_bytes;
    config.open.environment = flashlab_environment();
    config.open.settings = o.settings;
    config.record = o.record;
    config.mount.read_only = o.read_only;
    config.as_file = o.as_file;
    std::optional<std::string> log = o.log;
    std::string latency = o.latency;
    for (const auto& option : without_contradicted(o.options))
        if (auto done = apply_option(option, config, log, latency); !done && !(o.sloppy && is_unknown_option(option)))
            return std::unexpected(done.error());
    if (config.as_file && (config.persistence || config.mount.kernel_writeback || config.open.fs.failed_pages != FailedPages::retry))
        return std::unexpected(
            "--as-file: -o persistence, writeback and fsync_failure are about a file system, and a raw drive has none: leave them out");
    config.open.access = config.mount.read_only ? DeviceAccess::look : DeviceAccess::use;
    if (auto done = apply_level_and_latency(log.value_or(config.mount.read_only ? "none" : "summary"), latency, config); !done)
        return std::unexpected(done.error());
    DeviceConfig scratch;
    if (auto done = apply_environment(scratch, config.open.environment, true); !done) return std::unexpected(done.error());
    if (auto done = apply_settings(scratch, config.open.settings, true); !done) return std::unexpected(done.error());
    config.open.fs.read_only = config.mount.read_only;
    config.mount.mount_point = o.mount_point;
    config.mount.device_directory = config.directory;
    config.mount.control_socket = control_socket_path(config.directory);
    return config;
}

/// One of the two inside the other: the device would hide its own files, or its mount point. Empty: neither.
std::string nested(const std::string& mount_point, const std::string& directory) {
    std::error_code error;
    const std::string point = std::filesystem::canonical(mount_point, error).string(), device = directory;
    if (error || point == "/") return {};
    if ((point + "/").starts_with(device + "/"))
        return fmt::format("{}: lies in the device's own folder {}, where its images are: name a directory outside", mount_point, device);
    if (device.starts_with(point + "/"))
        return fmt::format("{}: holds the device {} itself, which the mount would hide: name another directory", mount_point, device);
    return {};
}

/// A read-only mount of a device that only such mounts have. It has no log: the first one may have it.
bool is_further(const MountSessionConfig& config) {
    return config.mount.read_only && config.open.log == EventLevel::none && config.record.empty() &&
           use_of_images(config.directory) == ImageUse::looked_at && find_mount(config.directory).has_value();
}

/// A raw drive mounted as a file system, or the other way round. Empty: neither.
std::string wrong_kind(const std::string& directory, bool as_file) {
    const auto device = read_device_toml(directory);
    if (!device || device->is_raw() == as_file) return {};
    if (as_file)
        return fmt::format(
            "{0}: carries a file system of FlashLab's own, which writes to its sectors would destroy: mount it without --as-file, or make "
            "a raw drive with: flashlab mkfs --raw DIR (with --force in this place, and all its files are lost)",
            directory);
    return fmt::format("{0}: is a raw drive, without a file system of FlashLab's own: mount it with: flashlab mount --as-file {0} MNT", directory);
}

/// A directory of another device than its parent may be a subvolume of btrfs. A kernel that does not say is taken to mean a mount.
bool is_mount_root(const std::string& point) {
    struct statx about {};
    const bool is_told = ::statx(AT_FDCWD, point.c_str(), 0, 0, &about) == 0 && (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
    return !is_told || (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// What can be said before anything is opened; empty: all is well.
std::string obstacle(const MountSessionConfig& config) {
    if (::access("/dev/fuse", F_OK) != 0)
        return "/dev/fuse is missing: load it with 'modprobe fuse'; in a container start it with --device /dev/fuse --cap-add SYS_ADMIN";
    if (const std::string why = wrong_kind(config.directory, config.as_file); !why.empty()) return why;
    const std::string& point = config.mount.mount_point;
    struct stat here {};
    struct stat above {};
    if (::stat(point.c_str(), &here) != 0)
        return errno == ENOTCONN ? fmt::format("{}: a mount that died is still here; remove it with: flashlab umount {}", point, shell_word(point))
                                 : fmt::format("{}: {}; make the mount point with: mkdir {}", point, std::strerror(errno), shell_word(point));
    if (!S_ISDIR(here.st_mode)) return fmt::format("{}: is no directory; name an empty directory as mount point", point);
    if (::stat((point + "/..").c_str(), &above) == 0 && (above.st_dev != here.st_dev || above.st_ino == here.st_ino) && is_mount_root(point))
        return fmt::format("{}: something is mounted here already; unmount it (flashlab umount {}) or name another directory", point,
                           shell_word(point));
    if (const auto mounted = find_mount(config.directory); mounted && !is_further(config))
        return fmt::format("{}: is mounted on {} already; unmount it first: flashlab umount {}{}", config.directory, mounted->mount_point,
                           shell_word(mounted->mount_point),
                           config.mount.read_only ? "; only a drive that is mounted read-only may be mounted again" : "");
    return {};
}

/// Who can still be told is told where there is none: a FIFO would block the daemon, a link may lead anywhere.
int open_failure_log(const std::string& path) {
    const int log = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    const int error = errno;
    const char* kind = log < 0 ? nullptr : irregular_kind(log);
    if (log >= 0 && kind == nullptr) return log;
    complain(fmt::format("{}: {}: this mount has no such log; put it away", path,
                         kind != nullptr  ? fmt::format("is {}", kind)
                         : error == ELOOP ? "is a symbolic link, which is not followed"
                         : error == ENXIO ? "is a FIFO"
                                          : std::strerror(error)));
    if (log >= 0) ::close(log);
    return -1;
}

/// From here on what goes wrong is written to the device's failure log. A read-only mount writes no file: it has syslog only.
void detach_from_terminal(const MountSessionConfig& config) {
    constexpr off_t worth_keeping = 1 << 20;
    const int null = ::open("/dev/null", O_RDWR);
    const std::string path = failure_log_path(config.directory);
    const int log = config.mount.read_only ? -1 : open_failure_log(path);
    if (log >= 0) give_to_owner_of_folder(log, path);
    struct stat now {};
    if (log >= 0 && ::fstat(log, &now) == 0 && now.st_size > worth_keeping && ::ftruncate(log, 0) != 0)
        complain(fmt::format("{}: {}", path, std::strerror(errno)));
    for (const int fd : {0, 1}) ::dup2(null, fd);
    ::dup2(log >= 0 ? log : null, 2);
    for (const int fd : {null, log})
        if (fd > 2) ::close(fd);
}

/// Why a drive did not open: wrong configuration when what the caller set does not even make a drive in memory.
int code_of_failure(const MountSessionConfig& config) {
    auto device = read_device_toml(config.directory);
    if (!device) return exit_failed;
    const bool is_set = apply_environment(*device, config.open.environment, true) && apply_settings(*device, config.open.settings, true) &&
                        check_settings_of_scheme(config.open.settings, device->ssd);
    return is_set && check_dram(device->ssd) && check_dram_fits(*device) ? exit_failed : exit_usage;
}

/// Serves; `ready` runs when the mount answers.
int serve(MountSessionConfig config, const std::function<void()>& ready, const std::function<void(const std::string&, int)>& fail,
          std::function<void(const std::string&)> warn) {
    config.open.complain = warn;
    if (const std::string why = obstacle(config); !why.empty()) {
        fail(why, exit_failed);
        return exit_failed;
    }
    if (const auto free = wait_for_images(config.directory, config.open.access, warn); !free) {
        fail(free.error(), exit_failed);
        return exit_failed;
    }
    if (is_further(config)) config.mount.control_socket = control_socket_path(config.directory, config.mount.mount_point);
    auto session = MountSession::make(config);
    // Another read-only mount may have come first by a moment: this one is a further one then.
    for (int tries = 0; !session && tries < 100 && config.mount.control_socket == control_socket_path(config.directory); ++tries) {
        if (!config.mount.read_only || use_of_images(config.directory) != ImageUse::looked_at) break;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        if (!is_further(config)) continue;
        config.mount.control_socket = control_socket_path(config.directory, config.mount.mount_point);
        session = MountSession::make(config);
    }
    if (!session) {
        const int code = code_of_failure(config);
        fail(session.error(), code);
        return code;
    }
    const auto end = (*session)->serve(ready);
    if (!end) {
        warn(end.error());
        return exit_failed;
    }
    return *end == MountEnd::failed ? exit_failed : exit_done;
}

int serve_in_foreground(const MountSessionConfig& config) {
    return serve(
        config, [&] { tell(fmt::format("flashlab: {} is mounted on {}\n", config.directory, config.mount.mount_point)); },
        [](const std::string& why, int) { complain(fmt::format("mount: {}", why)); }, [](const std::string& what) { complain(what); });
}

[[noreturn]] void serve_as_daemon(const MountSessionConfig& config, int report) {
    ::setsid();
    bool ready = false; // before: errors go to the terminal, after: to the failure log
    const auto tell = [&](const std::string& text) {
        const ssize_t written = ::write(report, text.data(), text.size());
        static_cast<void>(written);
        ::close(report);
    };
    int code = exit_failed;
    try {
        code = serve(
            config,
            [&] {
                ready = true;
                detach_from_terminal(config);
                if (::chdir("/") != 0) return;
                tell("+");
            },
            [&](const std::string& why, int failed) { tell((failed == exit_usage ? "?" : "-") + why); },
            [&](const std::string& what) {
                complain(what);
                ::openlog("flashlab", LOG_PID, LOG_DAEMON);
                ::syslog(LOG_ERR, "%s: %s", config.directory.c_str(), what.c_str());
            });
    } catch (const std::exception& error) {
        if (ready)
            complain(failure_text(error));
        else
            tell("-" + failure_text(error));
    }
    ::_exit(code);
}

/// The parent: what the child says, or that it died.
int wait_for_daemon(int report, pid_t child, const SignalsHeld& held) {
    const Interruption interruption;
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t got = 1;
    for (bool told = false; got > 0;) {
        if (held.wait_for(report)) {
            got = ::read(report, buffer.data(), buffer.size());
            text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        }
        if (Interruption::came() && !std::exchange(told, true)) ::kill(child, SIGTERM); // whoever gave up gets no mount later
    }
    held.release(); // a signal that came beside the last words counts, too
    if (Interruption::came()) {
        ::kill(child, SIGTERM);
        ::waitpid(child, nullptr, 0);
        return exit_failed;
    }
    if (text.starts_with("+")) return exit_done;
    if (text.starts_with("-") || text.starts_with("?")) return complain("mount: " + text.substr(1), text.starts_with("?") ? exit_usage : exit_failed);
    int status = 0;
    ::waitpid(child, &status, 0);
    return complain(WIFSIGNALED(status) ? fmt::format("mount: the daemon died of signal {} while starting", WTERMSIG(status))
                                        : std::string{"mount: it ended before the mount answered"});
}

int run_mount(const MountOptions& o) {
    if (std::ranges::find(o.options, "remount") != o.options.end()) return run_remount(o.mount_point, o.options);
    auto config = make_config(o);
    if (!config) return complain(fmt::format("mount: {}", config.error()), exit_usage);
    if (!o.fake)
        for (const std::string& place : {o.mount_point, o.directory})
            if (const std::string done = detach_dead_mount(place); !done.empty()) complain("mount: " + done);
    std::error_code error;
    if (const auto point = std::filesystem::canonical(o.mount_point, error); !error) config->mount.mount_point = point.string();
    if (const std::string why = nested(config->mount.mount_point, config->directory); !why.empty()) return complain("mount: " + why, exit_usage);
    if (o.fake) {
        const std::string why = obstacle(*config);
        return why.empty() ? exit_done : complain("mount: " + why);
    }
    if (o.foreground) return serve_in_foreground(*config);
    // The parent forks before any image, lock, log or thread exists: all of them belong to the child.
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return complain(fmt::format("mount: {}", std::strerror(errno)));
    const SignalsHeld held;
    const pid_t child = ::fork();
    if (child < 0) return complain(fmt::format("mount: no process can be started: {}", std::strerror(errno)));
    if (child == 0) {
        held.release();
        ::close(pipe[0]);
        serve_as_daemon(*config, pipe[1]);
    }
    ::close(pipe[1]);
    return wait_for_daemon(pipe[0], child, held);
}

} // namespace

void add_mount(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_mount, "mount",
                              "Mount a drive: programs find its files in the folder, and each of their calls goes down to the flash",
                              "flashlab mount /tmp/disk /mnt --latency real --log requests");
    c.add_option("DIR", o.directory, "Device directory")->required();
    c.add_option("MNT", o.mount_point, "Mount point")->required();
    c.add_option(
         "-o,--options", o.options,
         "Mount options: ro, norecovery (the same), noatime, sync, suid and dev (root; off unless asked for), recovery (damaged images, read-only), "
         "host_cache=writethrough, cache=SIZE, latency=, log=, allow_other, io_uring=on, KEY=VALUE; writeback: the kernel delays writes, and a cut "
         "after a rename over a name may leave neither file whole if the new one was not closed or fsynced before (docs/crash-model.md, 14)")
        ->delimiter(',')
        ->allow_extra_args(false);
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key that may change at a mount")->allow_extra_args(false);
    c.add_option("--latency", o.latency,
                 "How slow the drive feels. off: as fast as this machine; real: as its flash would be; 10x: ten times faster than real")
        ->capture_default_str();
    c.add_option("--log", o.log,
                 "What the event log keeps. none; summary: counters (default; none if read-only); requests: each request, too; all: each flash "
                 "operation, too");
    add_size(c, "--log-keep", o.log_keep_bytes, "Largest event log; beyond it the oldest rows of requests and operations go, the counters stay. 1G");
    c.add_option("--record", o.record, "Write every change and its data to this new file, as crash torture --explore does")->type_name("FILE");
    c.add_flag("--as-file", o.as_file, "A raw drive (mkfs --raw) as one file, MNT/disk, for losetup and virtual machines; docs/block-device.md");
    c.add_flag("--foreground", o.foreground, "Stay in the foreground until unmounted");
    c.add_flag("--read-only", o.read_only, "Refuse every change; the device's files are not written either");
    c.add_flag("--sloppy", o.sloppy, "Pass over unknown -o words (mount -s)");
    c.add_flag("--fake", o.fake, "Check the options and the place, but do not mount (mount -f)");
}

} // namespace flashlab
