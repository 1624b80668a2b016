#include "tools/live/file_users.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace flashlab {
namespace {

namespace files = std::filesystem;

bool has_file_on(const files::path& process, dev_t device) {
    for (const char* name : {"cwd", "root", "exe"})
        if (device_number_of((process / name).string()) == device) return true;
    std::error_code error;
    for (files::directory_iterator at{process / "fd", error}, end; !error && at != end; at.increment(error))
        if (device_number_of(at->path().string()) == device) return true;
    return false;
}

} // namespace

dev_t device_number_of(const std::string& path) {
    struct statx status {};
    if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, 0, &status) != 0) return 0;
    return makedev(status.stx_dev_major, status.stx_dev_minor);
}

std::vector<std::string> processes_with_files_on(dev_t device) {
    std::vector<int> found;
    std::error_code error;
    for (files::directory_iterator at{"/proc", error}, end; device != 0 && !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        int process = 0;
        const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (wrong == std::errc{} && rest == name.data() + name.size() && has_file_on(at->path(), device)) found.push_back(process);
    }
    std::ranges::sort(found);
    std::vector<std::string> texts;
    for (const int process : found) {
        std::ifstream comm{fmt::format("/proc/{}/comm", process)};
        std::string name;
        std::getline(comm, name);
        texts.push_back(fmt::format("{} ({})", process, name));
    }
    return texts;
}

} // namespace flashlab
