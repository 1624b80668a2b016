#include "tools/live_mount.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "fs/fuse/control_socket.h"
#include "tools/device_directory.h"
#include "tools/subprocess.h"

namespace flashlab {
namespace {

constexpr std::size_t longest_socket_path = 107;

/// mountinfo writes blanks and backslashes as \ooo.
std::string unescape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

/// Without touching the last component: stat on a dead mount would fail.
std::string absolute(const std::string& path) {
    std::error_code error;
    const auto full = std::filesystem::absolute(path, error).lexically_normal();
    const auto named = full.has_filename() ? full : full.parent_path();
    const auto parent = std::filesystem::canonical(named.parent_path(), error);
    return error ? named.string() : (parent / named.filename()).string();
}

} // namespace

std::string control_socket_path(const std::string& directory) {
    const std::string full = absolute(directory);
    std::string path = full + "/control.sock";
    if (path.size() <= longest_socket_path)
        return path;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    std::string base = runtime != nullptr && *runtime != '\0' ? runtime : fmt::format("/tmp/flashlab-{}", ::getuid());
    ::mkdir(base.c_str(), 0700);
    return fmt::format("{}/flashlab-{:08x}-{}.sock", base, crc32c(std::as_bytes(std::span{full})), full.size());
}

std::optional<MountEntry> find_mount(const std::string& target) {
    const std::string wanted = absolute(target);
    std::ifstream in{"/proc/self/mountinfo"};
    std::optional<MountEntry> found;
    for (std::string line; std::getline(in, line);) {
        const auto separator = line.find(" - ");
        if (separator == std::string::npos)
            continue;
        std::istringstream before{line.substr(0, separator)};
        std::istringstream after{line.substr(separator + 3)};
        std::string skip, point, type, source;
        before >> skip >> skip >> skip >> skip >> point;
        after >> type >> source;
        point = unescape(point);
        source = unescape(source);
        if (type.find("flashlab") == std::string::npos)
            continue;
        if (point == wanted || absolute(source) == wanted)
            found = MountEntry{source, point};
    }
    return found;
}

std::string detach_dead_mount(const std::string& target) {
    const auto entry = find_mount(target);
    if (!entry || is_in_use(entry->source) || ask_mount(entry->source, Json::object({{"cmd", "config"}})))
        return {};
    const int code = run_to_end({.words = {"fusermount3", "-u", "-z", entry->mount_point}, .directory = {}, .output = "/dev/null", .environment = {}});
    return code != 0 ? std::string{} : fmt::format("{}: the daemon of this mount of {} was killed; the mount is detached", entry->mount_point, entry->source);
}

std::string device_directory_of(const std::string& target) {
    const auto entry = find_mount(target);
    return entry ? entry->source : target;
}

std::expected<Json, std::string> ask_mount(const std::string& directory, const Json& request) {
    const auto answer = ask_control_socket(control_socket_path(directory), request.dump());
    if (!answer)
        return std::unexpected(answer.error());
    auto json = Json::parse(*answer);
    if (!json)
        return std::unexpected(fmt::format("the mount of {} answered with {}", directory, json.error()));
    if (const std::string error = (*json)["error"].text(); !error.empty())
        return std::unexpected(error);
    return json;
}

} // namespace flashlab
