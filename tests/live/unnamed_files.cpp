/// Files without a name (O_TMPFILE), on any directory; ext4 and tmpfs show that the checks are right themselves.
///   unnamed_files check DIR       what the manual pages say; 77: not offered here
///   unnamed_files hold DIR        writes and syncs such a file, says so, and keeps it open until it is killed
///   unnamed_files publish DIR N   N times: write, fsync, link into DIR, fsync DIR, print the number
///   unnamed_files verify DIR      reads the numbers that publish printed: these files, and any others of it in DIR, must be whole
///
/// Idea       One line a check, as in posix_checks.h. What publish links was synced before, so a file is there whole or not at all.
/// Cost       A second or two.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <set>
#include <vector>

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "tests/live/posix_checks.h"

namespace {

constexpr int not_offered = 77;
constexpr std::size_t published_bytes = 20'000;

int unnamed(const char* directory, int flags = O_RDWR, mode_t mode = 0644) { return ::open(directory, O_TMPFILE | O_CLOEXEC | flags, mode); }

/// Not by operator+: g++ 12 sees ghosts in it (GCC bug 105651).
std::string numbered(std::string text, int number) {
    text += std::to_string(number);
    return text;
}

int link_as(int fd, const char* name) { return ::linkat(AT_FDCWD, numbered("/proc/self/fd/", fd).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW); }

struct stat status(int fd) {
    struct stat a {};
    CHECK_OK(::fstat(fd, &a));
    return a;
}

std::size_t entries(const char* directory) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{directory}, std::filesystem::directory_iterator{}));
}

bool write_all(int fd, const std::string& bytes) { return ::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()); }

std::string read_all(int fd) {
    std::string bytes(static_cast<std::size_t>(status(fd).st_size), '?');
    CHECK_EQUAL(::pread(fd, bytes.data(), bytes.size(), 0), bytes.size());
    return bytes;
}

void is_a_file_in_no_directory() {
    ::umask(022);
    const int fd = unnamed(".", O_RDWR, 0666);
    CHECK_OK(fd);
    CHECK_EQUAL(status(fd).st_nlink, 0);
    CHECK_EQUAL(status(fd).st_mode, S_IFREG | 0644);
    CHECK_EQUAL(status(fd).st_uid, ::geteuid());
    CHECK_EQUAL(entries("."), 0);
    const std::string text = live::pattern(100'000);
    CHECK(write_all(fd, text));
    CHECK(read_all(fd) == text);
    CHECK_OK(::fsync(fd));
    CHECK_OK(::ftruncate(fd, 70'001));
    CHECK_OK(::fallocate(fd, 0, 200'000, 5'000));
    CHECK_EQUAL(status(fd).st_size, 205'000);
    CHECK_OK(::fchmod(fd, 0600));
    CHECK_EQUAL(status(fd).st_mode, S_IFREG | 0600);
    CHECK_OK(::fchown(fd, 12, 34));
    CHECK_EQUAL(status(fd).st_gid, 34);
    void* mapped = ::mmap(nullptr, live::page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(mapped != MAP_FAILED);
    std::memcpy(mapped, "mapped", 6);
    CHECK_OK(::msync(mapped, live::page, MS_SYNC));
    CHECK_OK(::munmap(mapped, live::page));
    CHECK(read_all(fd).starts_with("mapped"));
    const int again = ::open(numbered("/proc/self/fd/", fd).c_str(), O_RDONLY | O_CLOEXEC);
    CHECK_OK(again);
    CHECK_OK(::close(fd));
    CHECK(read_all(again).starts_with("mapped"));
    CHECK_OK(::close(again));
    CHECK_EQUAL(entries("."), 0);
}

void gets_one_name_and_then_others() {
    const int fd = unnamed(".");
    const std::string text = live::pattern(30'000);
    CHECK(write_all(fd, text));
    CHECK_OK(live::put("taken", "old"));
    CHECK_ERROR(link_as(fd, "taken"), EEXIST);
    CHECK_ERROR(link_as(fd, "nowhere/f"), ENOENT);
    CHECK_OK(link_as(fd, "f"));
    CHECK_EQUAL(status(fd).st_nlink, 1);
    CHECK_EQUAL(live::attributes("f").st_ino, status(fd).st_ino);
    CHECK(live::get("f") == text);
    CHECK_OK(::link("f", "g"));
    CHECK_EQUAL(status(fd).st_nlink, 2);
    CHECK_OK(::unlink("f"));
    CHECK_OK(::rename("g", "taken"));
    CHECK(live::get("taken") == text);
    CHECK_OK(::unlink("taken"));
    CHECK_EQUAL(status(fd).st_nlink, 0);
    CHECK_ERROR(link_as(fd, "late"), ENOENT); // it had a name: none again
    CHECK(read_all(fd) == text);
    CHECK_OK(::close(fd));
}

void exclusive_ones_get_none() {
    const int fd = unnamed(".", O_RDWR | O_EXCL);
    CHECK_OK(fd);
    CHECK(write_all(fd, "bytes"));
    CHECK_ERROR(link_as(fd, "f"), ENOENT);
    CHECK(read_all(fd) == "bytes");
    CHECK_OK(::close(fd));
    CHECK_EQUAL(entries("."), 0);
}

void errors_are_those_of_the_manual() {
    CHECK_ERROR(unnamed(".", O_RDONLY), EINVAL);
    CHECK_ERROR(unnamed("missing"), ENOENT);
    CHECK_OK(live::touch("file"));
    CHECK_ERROR(unnamed("file"), ENOTDIR);
    CHECK_OK(::mkdir("locked", 0755));
    CHECK_EQUAL(AS_USER(4711, 4711, unnamed("locked")), EACCES);
    CHECK_OK(::mkdir("open", 0777));
    CHECK_OK(::chmod("open", 0777));
    CHECK_EQUAL(AS_USER(4711, 4711, unnamed("open", O_WRONLY, 0000)), 0);
    CHECK_EQUAL(AS_USER(4711, 4711, unnamed("open", O_WRONLY)), 0);
}

void inherits_as_others_do() {
    CHECK_OK(::mkdir("d", 0755));
    CHECK_OK(::chown("d", 0, 77));
    CHECK_OK(::chmod("d", 02775));
    ::umask(077);
    int fd = unnamed("d", O_RDWR, 0666);
    CHECK_EQUAL(status(fd).st_gid, 77);
    CHECK_EQUAL(status(fd).st_mode & 07777, 0600);
    CHECK_OK(::close(fd));
    // user::rwx, user:5:rw-, group::r-x, mask::rw-, other::r--
    const unsigned char list[] = {2, 0, 0,   0,   1,   0,   7,  0, 255, 255, 255, 255, 2,   0,   6,  0, 5, 0, 0,   0,   4,   0,
                                  5, 0, 255, 255, 255, 255, 16, 0, 6,   0,   255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255};
    if (live::offered(::setxattr("d", "system.posix_acl_default", list, sizeof list, 0))) {
        fd = unnamed("d", O_RDWR, 0666);
        CHECK_EQUAL(status(fd).st_mode & 07777, 0664); // by the mask: the umask counts no more
        CHECK_OK(::fgetxattr(fd, "system.posix_acl_access", nullptr, 0));
        CHECK_OK(::close(fd));
    }
    ::umask(022);
}

void many_leave_nothing_behind() {
    const auto in_use = [] {
        struct statvfs fs {};
        CHECK_OK(::statvfs(".", &fs));
        return fs.f_files - fs.f_ffree;
    };
    const auto before = in_use();
    std::vector<int> open;
    for (int n = 0; n < 200; ++n) {
        open.push_back(unnamed("."));
        CHECK(write_all(open.back(), live::pattern(5'000)));
    }
    CHECK_EQUAL(entries("."), 0);
    for (const int fd : open) CHECK_OK(::close(fd));
    struct statfs kind {};
    CHECK_OK(::statfs(".", &kind));
    if (kind.f_type != FUSE_SUPER_MAGIC) return;                                      // the host's has other users
    for (int tries = 0; in_use() > before && tries < 1000; ++tries) ::usleep(10'000); // the kernel forgets them after the close has returned
    CHECK(in_use() <= before);                                                        // of files that were closed before this began, too
}

int check(const std::string& root) {
    const int fd = unnamed(root.c_str());
    if (fd < 0 && errno == EOPNOTSUPP) {
        std::puts("no files without a name here: EOPNOTSUPP");
        return not_offered;
    }
    ::close(fd);
    live::group(root, "plain", is_a_file_in_no_directory);
    live::group(root, "linked", gets_one_name_and_then_others);
    live::group(root, "exclusive", exclusive_ones_get_none);
    live::group(root, "errors", errors_are_those_of_the_manual);
    live::group(root, "inherits", inherits_as_others_do);
    live::group(root, "many", many_leave_nothing_behind);
    return live::report("unnamed_files");
}

std::string published(int number) {
    std::string text = live::pattern(published_bytes);
    for (std::size_t at = 0; at + 8 < text.size(); at += 512) text.replace(at, 8, std::to_string(10'000'000 + number));
    return text;
}

int hold(const char* directory) {
    const int fd = unnamed(directory);
    if (fd < 0 || !write_all(fd, live::pattern(1u << 20)) || ::fsync(fd) != 0) return 1;
    std::puts("held");
    std::fflush(stdout);
    for (;;) ::pause();
}

int publish(const std::string& directory, int count) {
    const int above = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int number = 0; number < count; ++number) {
        const int fd = unnamed(directory.c_str());
        const std::string name = numbered(directory + "/f", number);
        if (fd < 0 || !write_all(fd, published(number)) || ::fsync(fd) != 0 || link_as(fd, name.c_str()) != 0 || ::fsync(above) != 0) return 1;
        ::close(fd);
        std::printf("%d\n", number);
        std::fflush(stdout);
    }
    return 0;
}

int verify(const std::string& directory) {
    std::set<std::string> promised;
    for (int number = 0; std::cin >> number;) promised.insert(numbered("f", number));
    int bad = 0, found = 0;
    for (const auto& entry : std::filesystem::directory_iterator{directory}) {
        const std::string name = entry.path().filename();
        if (name[0] != 'f') continue;
        ++found;
        promised.erase(name);
        if (live::get(entry.path().c_str()) == published(std::stoi(name.substr(1)))) continue;
        std::printf("%s is not whole: %zu bytes\n", name.c_str(), static_cast<std::size_t>(std::filesystem::file_size(entry.path())));
        ++bad;
    }
    for (const std::string& name : promised) std::printf("%s was promised and is not there\n", name.c_str());
    std::printf("%d published files, %d not whole, %zu missing\n", found, bad, promised.size());
    return bad == 0 && promised.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "check") return check(argv[2]);
    if (what == "hold") return hold(argv[2]);
    if (what == "publish" && argc > 3) return publish(argv[2], std::atoi(argv[3]));
    if (what == "verify") return verify(argv[2]);
    std::puts("usage: unnamed_files check|hold|publish|verify DIR [N]");
    return 2;
}
