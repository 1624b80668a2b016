/// many_files DIR FILES [PHASE]: creates FILES empty files in one directory, lists them, asks for each, removes them; prints the rates.
/// With PHASE (create, list, stat, rename, remove) only that one; rename gives every file another name and its own back.
#include <chrono>
#include <functional>
#include <string_view>

#include <dirent.h>

#include "tests/live/live_support.h"

namespace {

using namespace live;

void timed(const char* what, std::uint64_t count, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("many_files: %s %llu: %.2f s, %.0f/s\n", what, static_cast<unsigned long long>(count), seconds, static_cast<double>(count) / seconds);
}

std::uint64_t count_entries(const std::string& directory) {
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) {
        fail_errno("opendir", directory);
    }
    std::uint64_t count = 0;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
        count += entry->d_name[0] == 'f' ? 1 : 0;
    }
    if (errno != 0) {
        fail_errno("readdir", directory);
    }
    ::closedir(stream);
    return count;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        live::fail("usage: many_files DIR FILES [create|list|stat|rename|remove]");
    }
    const std::string_view only = argc == 4 ? argv[3] : "";
    const std::string directory = argv[1];
    const std::uint64_t files = live::number_argument(argv[2]);
    const auto name = [&](std::uint64_t number) { return directory + "/f" + std::to_string(number); };
    const auto for_all = [&](const char* call, const std::function<bool(const std::string&)>& work) {
        for (std::uint64_t i = 0; i < files; ++i) {
            if (!work(name(i))) {
                if (device_gone()) {
                    std::exit(3); // the power was cut under us: the caller knows
                }
                fail_errno(call, name(i));
            }
        }
    };
    const auto phase = [&](std::string_view what, const std::function<void()>& work) {
        if (only == what || (only.empty() && what != "rename")) {
            timed(what.data(), files, work);
        }
    };
    phase("create", [&] {
        for_all("create", [](const std::string& path) {
            const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
            return fd >= 0 && ::close(fd) == 0;
        });
    });
    phase("list", [&] {
        if (const std::uint64_t listed = count_entries(directory); listed != files) {
            fail("listed " + std::to_string(listed) + " of " + std::to_string(files));
        }
    });
    phase("stat", [&] {
        struct stat attributes {};
        for_all("stat", [&](const std::string& path) { return ::stat(path.c_str(), &attributes) == 0; });
    });
    phase("rename", [&] {
        for_all("rename", [](const std::string& path) { return ::rename(path.c_str(), (path + "r").c_str()) == 0; });
        for_all("rename", [](const std::string& path) { return ::rename((path + "r").c_str(), path.c_str()) == 0; });
    });
    phase("remove", [&] { for_all("unlink", [](const std::string& path) { return ::unlink(path.c_str()) == 0; }); });
    if ((only.empty() || only == "remove") && count_entries(directory) != 0) {
        fail("files are left after removing all");
    }
    return 0;
}
