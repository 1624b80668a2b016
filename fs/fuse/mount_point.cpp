#include "fs/fuse/mount_point.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <mntent.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr const char* unmounter = "fusermount3";
constexpr const char* table_of_unmounter = "/etc/mtab";

std::unexpected<std::string> complaint(std::string sentence) { return std::unexpected(std::move(sentence)); }

/// True: a FlashLab device is mounted on exactly this directory.
bool is_taken(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    if (real == nullptr) return false;
    const std::string wanted{real};
    std::free(real);
    FILE* mounts = setmntent("/proc/self/mounts", "r");
    if (mounts == nullptr) return false;
    bool taken = false;
    while (const mntent* mount = getmntent(mounts)) {
        taken = taken || (wanted == mount->mnt_dir && std::string_view{mount->mnt_type} == "fuse.flashlab");
    }
    endmntent(mounts);
    return taken;
}

bool is_in_path(const char* program) {
    const char* path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"; // where fusermount3 is installed
    for (std::string_view rest{path}; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string candidate = fmt::format("{}/{}", rest.substr(0, end), program);
        if (access(candidate.c_str(), X_OK) == 0) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

/// libfuse splits options at commas and knows one escape.
std::string escaped(const std::string& value) {
    std::string out;
    for (const char c : value) {
        if (c == ',' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

} // namespace

std::expected<void, std::string> check_mount_point(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        switch (errno) {
        case ENOENT:
            return complaint(fmt::format("mount point {} does not exist: create it with mkdir -p {}", path, path));
        case ENOTCONN:
            return complaint(fmt::format("mount point {} is held by a mount whose daemon is gone: clear it with fusermount3 -u {}", path, path));
        default:
            return complaint(fmt::format("mount point {} cannot be used: {}: choose a directory you can reach", path, std::strerror(errno)));
        }
    }
    if (!S_ISDIR(status.st_mode)) return complaint(fmt::format("mount point {} is not a directory: choose or create a directory", path));
    if (is_taken(path))
        return complaint(fmt::format("mount point {} is busy: a FlashLab device is mounted there: flashlab umount {} first", path, path));
    return {};
}

std::expected<void, std::string> check_host_fuse() {
    const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO)) {
        return complaint(
            "/dev/fuse is missing: load the module with modprobe fuse; in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN");
    }
    if (device < 0) return complaint(fmt::format("/dev/fuse cannot be opened: {}: ask for access to it, or run as root", std::strerror(errno)));
    close(device);
    if (geteuid() != 0 && !is_in_path(unmounter)) {
        return complaint("fusermount3 is missing, and only root can mount without it: install the package fuse3");
    }
    if (geteuid() != 0 && access(table_of_unmounter, R_OK) != 0) { // it would mount, and then refuse to unmount
        return complaint(fmt::format("{} is missing, and fusermount3 unmounts for an ordinary user only what it finds there: as root, run ln -s "
                                     "/proc/self/mounts {}",
                                     table_of_unmounter, table_of_unmounter));
    }
    return {};
}

std::vector<std::string> session_arguments(const MountConfig& config, bool is_root) {
    std::string options = fmt::format("default_permissions,subtype=flashlab,fsname={}", escaped(config.device_directory));
    if (config.read_only) options += ",ro";
    for (const std::string& option : config.fuse_options) { // libfuse's default is nosuid,nodev, and only root may ask for the contrary
        if (option != "default_permissions" && (is_root || (option != "suid" && option != "dev"))) options += "," + option;
    }
    return {"flashlab", "-o", options};
}

bool detach(const std::string& path) {
    if (geteuid() == 0) return umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
    std::array<std::string, 6> words{unmounter, "-u", "-q", "-z", "--", path};
    std::array<char*, 7> arguments{};
    std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
    pid_t child = 0;
    if (posix_spawnp(&child, unmounter, nullptr, nullptr, arguments.data(), environ) != 0) return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void flush_kernel_pages(const std::string& path) {
    const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    syncfs(directory);
    close(directory);
}

void set_read_ahead(const std::string& path, std::size_t bytes) {
    struct statx status {};
    if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, 0, &status) != 0) return; // sends no request
    const std::string setting = fmt::format("/sys/class/bdi/{}:{}/read_ahead_kb", status.stx_dev_major, status.stx_dev_minor);
    const int file = open(setting.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    const std::string value = std::to_string(bytes / 1024);
    static_cast<void>(write(file, value.data(), value.size()));
    close(file);
}

RoundTrips measure_round_trips(const std::string& path) {
    using namespace std::chrono;
    constexpr microseconds longest{50}; // a busy host must not make answers leave long before their time
    constexpr std::size_t warm_up = 16;
    const auto trip = [&path] {
        const auto start = steady_clock::now();
        char nothing = 0;
        static_cast<void>(getxattr(path.c_str(), "security.capability", &nothing, sizeof nothing)); // answered without the monitor
        return steady_clock::now() - start;
    };
    RoundTrips trips{.fastest = longest};
    for (std::size_t count = 0; count < 80; ++count) {
        const auto took = trip();
        if (count >= warm_up) trips.fastest = std::min<steady_clock::duration>(trips.fastest, took);
    }
    std::array<steady_clock::duration, 32> after_a_pause{}; // whoever takes the request may sleep, as beside a device that takes its time
    for (auto& one : after_a_pause) {
        std::this_thread::sleep_for(microseconds{100});
        one = trip();
    }
    const auto middle = after_a_pause.begin() + after_a_pause.size() / 2;
    std::ranges::nth_element(after_a_pause, middle);
    trips.usual = std::clamp<steady_clock::duration>(*middle, trips.fastest, longest);
    std::vector<std::byte> from(1u << 20, std::byte{1}), to(1u << 20);
    const auto start = steady_clock::now();
    std::ranges::copy(from, to.begin());
    trips.copy_of_mib = std::clamp<steady_clock::duration>(steady_clock::now() - start, microseconds{20}, microseconds{500});
    return trips;
}

} // namespace flashlab
