#include "tools/cli/commands/mount.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "tools/cli/commands/mount_faults.h"
#include "tools/cli/commands/mount_words.h"
#include "tools/cli/commands/remount.h"
#include "tools/cli/failure_text.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/scheme_keys.h"
#include "tools/host/complaint.h"
#include "tools/host/host_memory.h"
#include "tools/host/interruption.h"
#include "tools/host/private_file.h"
#include "tools/host/signals_held.h"
#include "tools/host/standard_streams.h"
#include "tools/live/live_mount.h"
#include "tools/live/mount_session.h"
#include "tools/log/event_level.h"
#include "tools/run/virtual_device.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

bool is_unknown_option(const std::string& option) {
    const std::string name = option.substr(0, option.find('='));
    return !is_in(ignored_options, name) && !is_in(passed_options, name) && !is_in(own_options, name) && find_config_key(name) == nullptr;
}

std::string unknown_option(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& key : config_keys()) known.emplace_back(key.name);
    known.insert(known.end(), own_options.begin(), own_options.end());
    known.insert(known.end(), passed_options.begin(), passed_options.end());
    const std::string near = name.size() < 3 ? std::string{} : nearest_name(name, known); // of two letters every word is near
    return near.empty() ? fmt::format("-o {}: unknown option; see: flashlab mount --help", name)
                        : fmt::format("-o {}: unknown option; did you mean '{}'?", name, near);
}

std::expected<void, std::string> apply_level_and_latency(const std::string& log, const std::string& latency, MountSessionConfig& config) {
    const auto level = parse_event_level(log);
    if (!level) return std::unexpected(fmt::format("log {}: allowed: none, summary, requests, all", log));
    const auto mode = parse_latency(latency);
    if (!mode) return std::unexpected(fmt::format("latency {}: allowed: off, real, or a factor such as 10x", latency));
    config.open.log = *level;
    config.mount.latency = *mode;
    return {};
}

std::expected<void, std::string> apply_sized(const std::string& name, const std::string& value, MountSessionConfig& config) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return std::unexpected(name == "threads"
                                   ? fmt::format("-o threads={}: a whole number from 0 to 64 is wanted; 0: chosen by measurement", value)
                                   : fmt::format("-o {}={}: {}", name, value, bytes.error()));
    if (name == "cache") {
        if (*bytes < (1u << 20) || *bytes > (std::uint64_t{1} << 40))
            return std::unexpected(fmt::format("-o cache={}: allowed: 1 MiB to 1 TiB", value));
        if (const auto there = check_host_memory(*bytes); !there)
            return std::unexpected(fmt::format("-o cache={}: {}: give less, or leave the option out for 64 MiB", value, there.error()));
        config.open.fs.cache_bytes = *bytes;
    } else if (name == "threads") {
        if (*bytes > 64) return std::unexpected(fmt::format("-o threads={}: allowed: 0 to 64; 0: chosen by measurement", value));
        config.mount.threads = static_cast<unsigned>(*bytes);
    } else {
        config.open.log_keep_bytes = *bytes;
    }
    return {};
}

/// One -o word. `log` and `latency` are collected, since -o comes last in the order of precedence.
std::expected<void, std::string> apply_option(const std::string& option, MountSessionConfig& config, std::optional<std::string>& log,
                                              std::string& latency) {
    const auto equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (name.empty() && equals != std::string::npos)
        return std::unexpected(fmt::format("-o {}: names no option; see: flashlab mount --help", option));
    if (name.empty() || name.starts_with("x-") || name == "comment" || is_in(ignored_options, name)) return {};
    if (is_in(passed_options, name)) {
        config.mount.fuse_options.push_back(option);
        if (name == "noatime") config.mount.access_times = AccessTimes::kept;    // the kernel leaves access times to the daemon
        if (name == "sync") config.open.fs.host_cache = HostCache::writethrough; // the kernel syncs after write(2), but not after copy_file_range(2)
    } else if (name == "ro") {
        config.mount.read_only = true;
    } else if (name == "norecovery") { // what a cut has left is recovered in memory alone, as always where nothing is written
        config.mount.read_only = true;
    } else if (name == "recovery") {
        config.mount.read_only = config.open.tolerate_damage = true;
    } else if (name == "strictatime") {
        config.mount.access_times = AccessTimes::strict;
    } else if (name == "use") {
        config.open.counts_use = true;
    } else if (name == "writeback") {
        config.mount.kernel_writeback = true;
    } else if (name == "host_cache") {
        if (value != "writethrough" && value != "delayed" && value != "lossy")
            return std::unexpected(fmt::format("-o host_cache={}: allowed: delayed (lossy is the same), writethrough", value));
        config.open.fs.host_cache = value == "writethrough" ? HostCache::writethrough : HostCache::delayed;
    } else if (name == "io_uring") {
        if (value != "auto" && value != "on" && value != "off") return std::unexpected(fmt::format("-o io_uring={}: allowed: auto, on, off", value));
        config.mount.io_ring = value == "auto" ? IoRingUse::chosen : value == "on" ? IoRingUse::on : IoRingUse::off;
    } else if (name == "persistence") {
        const auto model = find_persistence(value);
        if (!model) return std::unexpected(fmt::format("-o persistence={}: allowed: {}", value, persistence_names));
        config.persistence = value == "strict" ? std::nullopt : model;
    } else if (name == "latency") {
        latency = value;
    } else if (name == "log") {
        log = value;
    } else if (name == "cache" || name == "log_keep" || name == "threads") {
        return apply_sized(name, value, config);
    } else if (name == "fault" || name == "fault_plan" || name == "fsync_failure") {
        return apply_fault_option(name, value, config);
    } else if (find_config_key(name) != nullptr) {
        config.open.settings.push_back(option);
    } else {
        return std::unexpected(unknown_option(name));
    }
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
    std::optional<std::string> log = o.log;
    std::string latency = o.latency;
    for (const auto& option : o.options)
        if (auto done = apply_option(option, config, log, latency); !done && !(o.sloppy && is_unknown_option(option)))
            return std::unexpected(done.error());
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

/// What can be said before anything is opened; empty: all is well.
std::string obstacle(const MountSessionConfig& config) {
    if (::access("/dev/fuse", F_OK) != 0)
        return "/dev/fuse is missing: load it with 'modprobe fuse'; in a container start it with --device /dev/fuse --cap-add SYS_ADMIN";
    const std::string& point = config.mount.mount_point;
    struct stat here {};
    struct stat above {};
    if (::stat(point.c_str(), &here) != 0)
        return errno == ENOTCONN ? fmt::format("{}: a mount that died is still here; remove it with: flashlab umount {}", point, point)
                                 : fmt::format("{}: {}; make the mount point with: mkdir {}", point, std::strerror(errno), point);
    if (!S_ISDIR(here.st_mode)) return fmt::format("{}: is no directory; name an empty directory as mount point", point);
    if (::stat((point + "/..").c_str(), &above) == 0 && (above.st_dev != here.st_dev || above.st_ino == here.st_ino))
        return fmt::format("{}: something is mounted here already; unmount it (flashlab umount {}) or name another directory", point, point);
    if (const auto mounted = find_mount(config.directory); mounted && !is_further(config))
        return fmt::format("{}: is mounted on {} already; unmount it first: flashlab umount {}{}", config.directory, mounted->mount_point,
                           mounted->mount_point, config.mount.read_only ? "; only a drive that is mounted read-only may be mounted again" : "");
    return {};
}

/// From here on what goes wrong is written to the device's failure log. A read-only mount writes no file: it has syslog only.
void detach_from_terminal(const MountSessionConfig& config) {
    constexpr off_t worth_keeping = 1 << 20;
    const int null = ::open("/dev/null", O_RDWR);
    const std::string path = failure_log_path(config.directory);
    const int log = config.mount.read_only ? -1 : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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
                        check_settings_of_scheme(config.open.settings, device->ssd.ftl);
    return is_set && check_dram(device->ssd) && check_partitioned_dram(*device) ? exit_failed : exit_usage;
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

} // namespace

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

} // namespace flashlab
