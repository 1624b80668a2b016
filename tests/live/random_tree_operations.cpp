/// random_tree_operations DIR REFERENCE SEED OPERATIONS: the same random namespace calls on DIR and on REFERENCE (a tmpfs); result, errno and tree
/// must agree.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/live/live_support.h"

namespace {

using namespace live;
namespace fs = std::filesystem;

struct Outcome {
    int result = 0, error = 0;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};
Outcome outcome(int result) { return {result < 0 ? -1 : 0, result < 0 ? errno : 0}; }

/// One call, chosen before it is made, so that both trees get the same.
struct Call {
    std::uint64_t kind = 0;
    std::string first, second;
    std::uint32_t mode = 0;

    [[nodiscard]] std::string text() const { return "call " + std::to_string(kind) + " " + first + " " + second; }
    [[nodiscard]] Outcome on(const std::string& root) const {
        const std::string a = root + first, b = root + second;
        switch (kind) {
        case 0:
            return create(a);
        case 1:
            return outcome(::mkdir(a.c_str(), mode));
        case 2:
            return outcome(::unlink(a.c_str()));
        case 3:
            return outcome(::rmdir(a.c_str()));
        case 4:
            return outcome(::rename(a.c_str(), b.c_str()));
        case 5:
            return outcome(::link(a.c_str(), b.c_str()));
        case 6:
            return outcome(::symlink(second.substr(1).c_str(), a.c_str()));
        case 7:
            return outcome(::mknod(a.c_str(), S_IFIFO | mode, 0));
        case 8:
            return outcome(::chmod(a.c_str(), mode));
        case 9:
            return outcome(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_NOREPLACE));
        case 10:
            return outcome(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE));
        default:
            return outcome(::truncate(a.c_str(), static_cast<off_t>(mode) * 10));
        }
    }

private:
    [[nodiscard]] Outcome create(const std::string& path) const {
        const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
        const Outcome result = outcome(fd);
        if (fd >= 0) {
            ::close(fd);
        }
        return result;
    }
};

/// Few names at few depths: collisions are the point.
std::string random_path(Random& random) {
    std::string path;
    const std::uint64_t depth = 1 + random.below(3);
    for (std::uint64_t i = 0; i < depth; ++i) {
        path += "/n";
        path += std::to_string(random.below(6));
    }
    return path;
}

Call random_call(Random& random) {
    const std::uint32_t own = ::geteuid() == 0 ? 0 : 0700; // whoever is not root looks below directories, too
    static constexpr std::uint32_t modes[] = {0700, 0755, 0640, 0600, 01777, 0711};
    return {random.below(12), random_path(random), random_path(random), modes[random.below(6)] | own};
}

std::string describe(const fs::path& path) {
    struct stat attributes {};
    if (::lstat(path.c_str(), &attributes) != 0) {
        fail_errno("lstat", path.string());
    }
    std::ostringstream text;
    text << std::oct << attributes.st_mode << std::dec << " uid " << attributes.st_uid << " gid " << attributes.st_gid << " links "
         << attributes.st_nlink;
    if (S_ISREG(attributes.st_mode) || S_ISLNK(attributes.st_mode)) {
        text << " size " << attributes.st_size;
    }
    if (S_ISLNK(attributes.st_mode)) {
        text << " -> " << fs::read_symlink(path).string();
    }
    return text.str();
}

std::map<std::string, std::string> tree(const std::string& root) {
    std::map<std::string, std::string> entries;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{root}) {
        entries[entry.path().string().substr(root.size())] = describe(entry.path());
    }
    return entries;
}

void compare_trees(const std::string& ours, const std::string& reference) {
    const auto a = tree(ours), b = tree(reference);
    for (const auto& [path, description] : b) {
        const auto there = a.find(path);
        if (there == a.end() || there->second != description) {
            fail(path + ": " + (there == a.end() ? "missing" : there->second) + ", expected " + description);
        }
    }
    if (a.size() != b.size()) {
        fail("there are " + std::to_string(a.size()) + " entries, expected " + std::to_string(b.size()));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        live::fail("usage: random_tree_operations DIR REFERENCE SEED OPERATIONS");
    }
    const std::string ours = argv[1], reference = argv[2];
    Random random{live::number_argument(argv[3])};
    const std::uint64_t operations = live::number_argument(argv[4]);
    for (std::uint64_t i = 0; i < operations; ++i) {
        const Call call = random_call(random);
        const Outcome a = call.on(ours), b = call.on(reference);
        if (a != b) {
            fail("operation " + std::to_string(i) + ", " + call.text() + ": " + std::strerror(a.error) + ", expected " + std::strerror(b.error));
        }
    }
    compare_trees(ours, reference);
    std::printf("random_tree_operations: %s operations, seed %s: as on the reference\n", argv[4], argv[3]);
    return 0;
}
