#include "tools/live/mount_table.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/fuse/mount_question.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

/// Decodes a field of mountinfo, which writes blanks and backslashes as \ooo.
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

std::vector<MountEntry> mounts_in(const std::string& table) {
    std::ifstream in{table};
    std::vector<MountEntry> found;
    for (std::string line; std::getline(in, line);) {
        const auto separator = line.find(" - ");
        if (separator == std::string::npos || line.find("flashlab", separator) == std::string::npos) continue;
        std::istringstream before{line.substr(0, separator)};
        std::istringstream after{line.substr(separator + 3)};
        std::string skip, device, point, type, source, options;
        before >> skip >> skip >> device >> skip >> point;
        after >> type >> source >> options;
        if (type.find("flashlab") != std::string::npos) found.push_back({unescape(source), unescape(source), unescape(point), device, options});
    }
    return found;
}

struct Answer {
    int error = 0;
    DevicePath path{};
};

/// Runs in the child, so it makes only calls that are safe after a fork.
[[noreturn]] void ask_in_child(const char* mount_point, int to) {
    Answer answer;
    const int root = ::open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || ::ioctl(root, where_command, answer.path.data()) != 0) answer.error = errno;
    const ssize_t written = ::write(to, &answer, sizeof answer);
    ::_exit(written == static_cast<ssize_t>(sizeof answer) ? 0 : 1);
}

/// Reads the whole answer, or reports that it did not come in time. The answer is larger than what a pipe gives at once.
bool receive(int from, Answer& answer, std::chrono::steady_clock::time_point latest) {
    using namespace std::chrono;
    auto* to = reinterpret_cast<char*>(&answer);
    for (std::size_t got = 0; got < sizeof answer;) {
        const auto left = std::max(ceil<milliseconds>(latest - steady_clock::now()), milliseconds{0});
        pollfd watch{.fd = from, .events = POLLIN, .revents = 0};
        if (::poll(&watch, 1, static_cast<int>(left.count())) <= 0) return false;
        const ssize_t n = ::read(from, to + got, sizeof answer - got);
        if (n <= 0) return false;
        got += static_cast<std::size_t>(n);
    }
    return true;
}

MountHealth health_of(int error) {
    if (error == ENOTCONN || error == ECONNABORTED) return MountHealth::dead;
    return error == EACCES || error == EPERM ? MountHealth::closed : MountHealth::answers;
}

/// The process number, if a name in /proc is one.
pid_t process_of(const files::path& entry) {
    const std::string name = entry.filename().string();
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    return error == std::errc{} && end == name.data() + name.size() ? process : 0;
}

} // namespace

std::string absolute_path(const std::string& path) {
    std::error_code error;
    const auto full = files::absolute(path, error).lexically_normal();
    const auto named = full.has_filename() ? full : full.parent_path();
    const auto parent = files::canonical(named.parent_path(), error);
    return error ? named.string() : (parent / named.filename()).string();
}

std::vector<MountEntry> flashlab_mounts() { return mounts_in("/proc/self/mountinfo"); }

MountAnswer ask_where(const std::string& mount_point, std::chrono::milliseconds patience) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {};
    const pid_t child = ::fork();
    if (child == 0) ask_in_child(mount_point.c_str(), pipe[1]);
    ::close(pipe[1]);
    Answer answer;
    const bool came = child > 0 && receive(pipe[0], answer, std::chrono::steady_clock::now() + patience);
    ::close(pipe[0]);
    if (child > 0) { // a child that hangs in the kernel is not waited for: it ends when its request does
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, came ? 0 : WNOHANG);
    }
    if (!came) return {};
    answer.path.back() = '\0';
    return {health_of(answer.error), answer.error == 0 ? std::string{answer.path.data()} : std::string{}};
}

std::vector<MountHolder> who_else_has(const std::string& device, const std::string& listed) {
    std::vector<MountHolder> holders;
    std::set<std::string> seen;
    const auto look = [&](pid_t process, const std::string& folder) {
        std::error_code error;
        const std::string mount_namespace = files::read_symlink(folder + "/ns/mnt", error).string();
        if (error || !seen.insert(mount_namespace).second) return;
        for (const MountEntry& mount : mounts_in(folder + "/mountinfo")) {
            if (mount.device != device || mount.listed != listed) continue;
            std::string name;
            std::getline(std::ifstream{folder + "/comm"}, name);
            holders.push_back({process, name, mount.mount_point});
            break;
        }
    };
    look(0, "/proc/self");
    std::error_code error;
    for (const auto& entry : files::directory_iterator{"/proc", error})
        if (const pid_t process = process_of(entry.path()); process > 0) look(process, entry.path().string());
    return holders;
}

} // namespace flashlab
