#include "tools/live/live_mount.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "fs/fuse/control_socket.h"
#include "fs/fuse/mount_point.h"
#include "tools/host/complaint.h"
#include "tools/host/subprocess.h"

namespace flashlab {
namespace files = std::filesystem;
namespace {

constexpr std::size_t longest_socket_path = 107;

constexpr auto moment = std::chrono::seconds{2};

/// After its unmounting a daemon answers for a moment, before it notices; on a busy machine the moment is long. If it still answers after this time,
/// somebody else holds the mount.
constexpr auto unnoticed_unmount = std::chrono::seconds{3};

/// Asks the mount where its device is. Returns nothing if neither its device nor its mount point is `wanted`.
std::optional<MountEntry> if_it_is(MountEntry entry, const std::string& wanted) {
    const MountAnswer answer = ask_where(entry.mount_point, moment);
    if (!answer.directory.empty()) entry.source = answer.directory;
    return entry.mount_point == wanted || absolute_path(entry.source) == wanted ? std::optional{entry} : std::nullopt;
}

std::expected<Json, std::string> ask_socket(const std::string& socket, const std::string& directory, const Json& request,
                                            std::optional<std::chrono::milliseconds> patience) {
    const std::string command = request["cmd"].text();
    const bool makes_work =
        command == "flush" || command == "idle" || command == "powercut" || command == "set" || command == "age" || command == "fault";
    const auto answer = ask_control_socket(socket, request.dump(), patience.value_or(std::chrono::seconds{makes_work ? 600 : 30}));
    if (!answer) return std::unexpected(answer.error());
    auto json = Json::parse(*answer);
    if (!json) return std::unexpected(fmt::format("the mount of {} answered with {}", directory, json.error()));
    if (const std::string error = (*json)["error"].text(); !error.empty()) return std::unexpected(error);
    return json;
}

constexpr int most_links = 40; ///< as the kernel's

std::optional<std::string> target_of_link(const std::string& path) {
    std::error_code error;
    const auto target = files::read_symlink(path, error);
    return error ? std::nullopt : std::optional{(files::path{path}.parent_path() / target).string()};
}

/// The runtime directory must belong to this user, and nobody else may write to it: otherwise others could put a socket of theirs in the place of
/// ours.
bool is_private_folder(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0;
}

/// Waits while a daemon that was killed still ends: until then its images are locked, and its mount may answer from the kernel's caches. Returns
/// whether the mount at `entry` is dead. A daemon that answers is not waited for.
bool is_dead_soon(const MountEntry& entry) {
    using namespace std::chrono;
    const auto latest = steady_clock::now() + unnoticed_unmount;
    for (;;) {
        if (!is_in_use(entry.source) && ask_where(entry.mount_point, moment).health == MountHealth::dead) return true;
        if (is_listening(control_socket_of(entry)) || steady_clock::now() > latest) return false;
        std::this_thread::sleep_for(milliseconds{5});
    }
}

bool is_on_read_only_disk(const std::string& path) {
    struct statvfs disk {};
    return ::statvfs(path.c_str(), &disk) == 0 && (disk.f_flag & ST_RDONLY) != 0;
}

std::string socket_in(const std::string& folder, const std::string& further) { return fmt::format("{}/control{}.sock", folder, further); }

/// Where a mount of the device answers. A disk that became read-only has the socket that its mount made before.
std::string socket_to_ask(const std::string& directory) {
    std::string path = control_socket_path(directory);
    return ::access(path.c_str(), F_OK) == 0 ? path : socket_in(absolute_path(directory), "");
}

} // namespace

std::string control_socket_path(const std::string& directory, const std::string& mount_point) {
    const std::string full = absolute_path(directory);
    const std::string further = mount_point.empty() ? "" : fmt::format("-{:08x}", crc32c(std::as_bytes(std::span{mount_point})));
    std::string path = socket_in(full, further);
    if (path.size() <= longest_socket_path && !is_on_read_only_disk(full)) return path;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    std::string base = runtime == nullptr ? "" : runtime;
    if (base.empty() || !is_private_folder(base)) {
        base = fmt::format("/tmp/flashlab-{}", ::getuid());
        ::mkdir(base.c_str(), 0700);
        if (!is_private_folder(base)) return path; // too long for a socket: the mount reports that
    }
    return fmt::format("{}/flashlab-{:08x}-{}{}.sock", base, crc32c(std::as_bytes(std::span{full})), full.size(), further);
}

std::optional<MountEntry> find_mount(const std::string& target) {
    std::string wanted = absolute_path(target);
    std::vector<MountEntry> mounts = flashlab_mounts();
    std::ranges::reverse(mounts); // the topmost mount comes first
    for (int links = 0; links < most_links; ++links) {
        for (const MountEntry& mount : mounts)
            if (mount.mount_point == wanted || absolute_path(mount.source) == wanted)
                if (auto found = if_it_is(mount, wanted)) return found;
        const auto there = target_of_link(wanted); // after the look by name: a mount whose daemon is stopped answers nothing
        if (!there) break;
        wanted = absolute_path(*there);
    }
    if (!is_in_use(target)) return std::nullopt;
    for (const MountEntry& mount : mounts) // the folder of the device may have been moved
        if (auto found = if_it_is(mount, wanted)) return found;
    return std::nullopt;
}

std::string detach_dead_mount(const std::string& target) {
    const auto entry = find_mount(target);
    if (!entry || !is_dead_soon(*entry)) return {};
    const int code =
        run_to_end({.words = {"fusermount3", "-u", "-z", entry->mount_point}, .directory = {}, .output = "/dev/null", .environment = {}});
    const bool is_gone = code == 127 ? detach(entry->mount_point) : code == 0; // not installed: root needs none
    return !is_gone ? std::string{}
                    : fmt::format("{}: the daemon of this mount of {} was killed; the mount is detached", entry->mount_point, entry->source);
}

std::string control_socket_of(const MountEntry& mount) {
    const std::string further = control_socket_path(mount.source, mount.mount_point); // where there is one
    return ::access(further.c_str(), F_OK) == 0 ? further : socket_to_ask(mount.source);
}

bool is_listening(const std::string& socket) { return ask_socket(socket, socket, Json::object({{"cmd", "config"}}), moment).has_value(); }

bool is_served(const std::string& directory) { return ask_mount(directory, Json::object({{"cmd", "config"}}), moment).has_value(); }

std::expected<void, std::string> wait_for_images(const std::string& directory, DeviceAccess access,
                                                 const std::function<void(const std::string&)>& say) {
    using namespace std::chrono;
    constexpr seconds longest{10};
    const auto is_taken = [&] {
        const ImageUse use = use_of_images(directory);
        return use == ImageUse::written || (use == ImageUse::looked_at && access != DeviceAccess::look);
    };
    const auto start = steady_clock::now();
    bool said = false;
    for (auto next_question = start; is_taken();) {
        const auto now = steady_clock::now();
        if (now >= next_question) {
            const bool is_held = is_served(directory);
            if (is_held && now - start > unnoticed_unmount)
                return std::unexpected(
                    fmt::format("{}: the device is in use: it is still mounted, in another mount namespace or for files that are open; unmount it "
                                "there, or close them",
                                directory));
            next_question = now + milliseconds{500};
        }
        if (now - start > longest)
            return std::unexpected(
                fmt::format("{}: the device is in use: after {} s its daemon is still writing back, or another flashlab command works on it; "
                            "try again when that has ended",
                            directory, longest.count()));
        if (!said && now - start > seconds{1}) {
            say(fmt::format("{}: waiting for who has the device in use, {} s at most", directory, longest.count()));
            said = true;
        }
        std::this_thread::sleep_for(milliseconds{5});
    }
    return {};
}

std::expected<void, std::string> wait_for_unmounted(const std::string& directory, DeviceAccess access) {
    const ImageUse use = use_of_images(directory);
    const bool is_taken = use == ImageUse::written || (use == ImageUse::looked_at && access != DeviceAccess::look);
    if (is_taken && find_mount(directory)) return std::unexpected(said_in_use(directory));
    return wait_for_images(directory, access, [](const std::string& text) { complain(text); });
}

std::string device_directory_of(const std::string& target) {
    const auto entry = find_mount(target);
    return entry ? entry->source : target;
}

std::expected<Json, std::string> ask_mount(const std::string& directory, const Json& request, std::optional<std::chrono::milliseconds> patience) {
    return ask_socket(socket_to_ask(directory), directory, request, patience);
}

std::expected<Json, std::string> ask_mount(const MountEntry& mount, const Json& request, std::optional<std::chrono::milliseconds> patience) {
    return ask_socket(control_socket_of(mount), mount.source, request, patience);
}

} // namespace flashlab
