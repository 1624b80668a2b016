// posix_data DIR: bytes and what hangs on them: reading and writing, sizes, holes, allocation, mapped files, copies, locks, times, extended attributes, ACLs, flags.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <thread>
#include <vector>

#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "tests/live/posix_checks.h"

namespace {

using namespace live;

constexpr unsigned user = 65534, group_id = 65534;
constexpr long page = 4096;
bool is_root() {
    return ::geteuid() == 0;
}

class File {
public:
    explicit File(const char* name, int flags = O_CREAT | O_RDWR, mode_t mode = 0644) : fd_{::open(name, flags | O_CLOEXEC, mode)} {
        CHECK(fd_ >= 0);
    }
    ~File() { ::close(fd_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    operator int() const { return fd_; }

private:
    int fd_;
};

std::string pattern(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t at = 0; at < bytes; ++at)
        text[at] = static_cast<char>('a' + at * 7 % 26);
    return text;
}
std::string read_at(int fd, long at, std::size_t bytes) {
    std::string text(bytes, '?');
    const ssize_t got = ::pread(fd, text.data(), bytes, at);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
}
bool before(const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}
bool same(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}
void let_time_pass() {
    ::usleep(20'000);
} // longer than a kernel tick, the grain of some file systems' times

void reads_and_writes() {
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, "0123456789", 10, 0), 10);
    CHECK(read_at(f, 3, 4) == "3456");
    CHECK(read_at(f, 8, 10) == "89");
    CHECK(read_at(f, 10, 1).empty());
    CHECK_EQUAL(::pwrite(f, "", 0, 100), 0);
    CHECK_EQUAL(attributes("f").st_size, 10);
    char one = 0;
    CHECK_ERROR(::pread(f, &one, 1, -1), EINVAL);
    CHECK_ERROR(::lseek(f, -1, SEEK_SET), EINVAL);
    const File end{"f", O_WRONLY | O_APPEND};
    CHECK_EQUAL(::pwrite(end, "ab", 2, 0), 2); // Linux appends whatever offset it is given
    CHECK(get("f") == "0123456789ab");
    char byte = 0;
    CHECK_ERROR(::read(end, &byte, 1), EBADF);
    // Across pages, not aligned, over what is there.
    const std::string text = pattern(5 * page + 17);
    CHECK_EQUAL(::pwrite(f, text.data(), text.size(), 3), static_cast<long long>(text.size()));
    CHECK(read_at(f, 3, text.size()) == text);
    CHECK(read_at(f, 0, 3) == "012");
    CHECK_OK(::fsync(f));
    CHECK_OK(::fdatasync(f));
    const iovec two[] = {{const_cast<char*>("left"), 4}, {const_cast<char*>("right"), 5}};
    CHECK_EQUAL(::pwritev(f, two, 2, page - 4), 9);
    CHECK(read_at(f, page - 4, 9) == "leftright");
}

void appenders_do_not_overwrite_each_other() {
    constexpr int writers = 4, lines = 200;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer)
        threads.emplace_back([writer] {
            const int fd = ::open("log", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
            const std::string line(31, static_cast<char>('a' + writer));
            for (int n = 0; n < lines; ++n)
                (void)!::write(fd, (line + "\n").data(), 32);
            ::close(fd);
        });
    for (std::thread& thread : threads)
        thread.join();
    const std::string log = get("log");
    CHECK_EQUAL(log.size(), writers * lines * 32);
    bool whole = true;
    for (std::size_t at = 0; at + 32 <= log.size(); at += 32)
        whole = whole && log.substr(at, 31) == std::string(31, log[at]) && log[at + 31] == '\n';
    CHECK(whole);
}

void sizes() {
    CHECK_OK(put("f", pattern(3 * page)));
    CHECK_OK(::truncate("f", 10));
    CHECK_OK(::truncate("f", 2 * page));
    CHECK(get("f") == pattern(10) + std::string(2 * page - 10, '\0')); // what was cut off does not come back
    CHECK_ERROR(::truncate("f", -1), EINVAL);
    CHECK_ERROR(::truncate("none", 1), ENOENT);
    CHECK_ERROR(::truncate(".", 0), EISDIR);
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, "x", 1, 100 * page), 1);
    CHECK_EQUAL(attributes("f").st_size, 100 * page + 1);
    CHECK(read_at(f, 50 * page, page) == std::string(page, '\0'));
    CHECK(attributes("f").st_blocks < 100 * page / 512);
    const File reader{"f", O_RDONLY};
    CHECK_ERROR(::ftruncate(reader, 0), EINVAL);
}

void holes() {
    const File f{"f"};
    CHECK_OK(::ftruncate(f, 64 * page));
    CHECK_EQUAL(::pwrite(f, pattern(page).data(), page, 16 * page), page);
    CHECK_OK(::fsync(f));
    CHECK_EQUAL(::lseek(f, 0, SEEK_DATA), 16 * page);
    CHECK_EQUAL(::lseek(f, 16 * page, SEEK_HOLE), 17 * page);
    CHECK_EQUAL(::lseek(f, 0, SEEK_HOLE), 0);
    CHECK_ERROR(::lseek(f, 17 * page, SEEK_DATA), ENXIO);
    CHECK_EQUAL(::lseek(f, 17 * page, SEEK_HOLE), 17 * page);
    CHECK_ERROR(::lseek(f, 64 * page, SEEK_HOLE), ENXIO);
}

void allocation() {
    const File f{"f"};
    CHECK_EQUAL(::pwrite(f, pattern(8 * page).data(), 8 * page, 0), 8 * page);
    CHECK_OK(::fsync(f));
    const auto blocks = attributes("f").st_blocks;
    if (!offered(::fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page + 100, 3 * page)))
        return;
    std::string text = pattern(8 * page);
    std::fill_n(text.begin() + page + 100, 3 * page, '\0');
    CHECK(read_at(f, 0, 8 * page) == text);
    CHECK_EQUAL(attributes("f").st_size, 8 * page);
    CHECK(attributes("f").st_blocks < blocks);
    CHECK_OK(::fallocate(f, FALLOC_FL_KEEP_SIZE, 0, 20 * page));
    CHECK_EQUAL(attributes("f").st_size, 8 * page);
    CHECK_OK(::fallocate(f, 0, 0, 12 * page));
    CHECK_EQUAL(attributes("f").st_size, 12 * page);
    CHECK(read_at(f, 8 * page, 4 * page) == std::string(4 * page, '\0'));
    if (offered(::fallocate(f, FALLOC_FL_ZERO_RANGE, 6 * page, 2 * page)))
        CHECK(read_at(f, 6 * page, 2 * page) == std::string(2 * page, '\0'));
    CHECK_ERROR(::fallocate(f, 0, 0, 0), EINVAL);
    CHECK_ERROR(::fallocate(f, 0, -1, page), EINVAL);
    CHECK_ERROR(::fallocate(f, FALLOC_FL_PUNCH_HOLE, 0, page), EOPNOTSUPP); // without KEEP_SIZE
}

void mapped_files() {
    const File f{"f"};
    CHECK_OK(::ftruncate(f, 4 * page));
    void* at = ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    CHECK(at != MAP_FAILED);
    if (at == MAP_FAILED)
        return;
    char* bytes = static_cast<char*>(at);
    std::memcpy(bytes + page - 2, "mapped", 6);
    CHECK(read_at(f, page - 2, 6) == "mapped");
    CHECK_EQUAL(::pwrite(f, "write", 5, 2 * page), 5);
    CHECK(std::memcmp(bytes + 2 * page, "write", 5) == 0);
    CHECK_OK(::msync(at, 4 * page, MS_SYNC));
    CHECK_OK(::munmap(at, 4 * page));
    CHECK(get("f").substr(page - 2, 6) == "mapped");
    void* own = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    CHECK(own != MAP_FAILED);
    if (own == MAP_FAILED)
        return;
    static_cast<char*>(own)[0] = '!';
    CHECK_OK(::munmap(own, page));
    CHECK_EQUAL(get("f")[0], '\0');
}

void direct_reads_and_writes() {
    CHECK_OK(put("f", pattern(4 * page)));
    const int fd = ::open("f", O_RDWR | O_DIRECT | O_CLOEXEC);
    if (fd < 0 && errno == EINVAL)
        return; // tmpfs of some kernels
    void* memory = nullptr;
    if (::posix_memalign(&memory, page, page) != 0)
        return;
    CHECK_EQUAL(::pread(fd, memory, page, page), page);
    CHECK(std::memcmp(memory, pattern(4 * page).data() + page, page) == 0);
    std::memset(memory, 'D', page);
    CHECK_EQUAL(::pwrite(fd, memory, page, 2 * page), page);
    CHECK(get("f").substr(2 * page, page) == std::string(page, 'D')); // the page cache shows it
    std::free(memory);
    ::close(fd);
}

void copies() {
    const std::string text = pattern(40 * page + 5);
    CHECK_OK(put("from", text));
    const File from{"from", O_RDONLY};
    const File to{"to"};
    loff_t source = 3, target = 7;
    ssize_t copied = 0, part = 0;
    while (copied < 20 * page && (part = ::copy_file_range(from, &source, to, &target, static_cast<std::size_t>(20 * page - copied), 0)) > 0)
        copied += part;
    if (!offered(part))
        return;
    CHECK_EQUAL(copied, 20 * page);
    CHECK_EQUAL(source, 3 + 20 * page);
    CHECK(get("to") == std::string(7, '\0') + text.substr(3, 20 * page));
    source = 41 * page;
    CHECK_EQUAL(::copy_file_range(from, &source, to, nullptr, page, 0), 0); // at the end
    const File both{"from"};
    source = 0, target = 10;
    CHECK_ERROR(::copy_file_range(both, &source, both, &target, page, 0), EINVAL); // overlapping
    CHECK_ERROR(::copy_file_range(from, nullptr, to, nullptr, page, 1), EINVAL);
}

void unlinked_files_live_on() {
    const File f{"f"};
    CHECK_EQUAL(::write(f, "still here", 10), 10);
    CHECK_OK(::unlink("f"));
    CHECK(read_at(f, 0, 10) == "still here");
    CHECK_EQUAL(::pwrite(f, pattern(3 * page).data(), 3 * page, 0), 3 * page);
    CHECK(read_at(f, 0, 3 * page) == pattern(3 * page));
    struct stat a {};
    CHECK_OK(::fstat(f, &a));
    CHECK_EQUAL(a.st_nlink, 0);
}

void locks() {
    const File f{"f"};
    struct flock range {};
    range.l_type = F_WRLCK, range.l_whence = SEEK_SET, range.l_start = 0, range.l_len = 10;
    CHECK_OK(::fcntl(f, F_SETLK, &range));
    struct flock asked = range;
    asked.l_type = F_RDLCK;
    const auto blocked = [&] {
        const int own = ::open("f", O_RDWR);
        return ::fcntl(own, F_SETLK, &asked) < 0 ? errno : 0;
    };
    CHECK_EQUAL(as_user(::geteuid(), ::getegid(), blocked), EAGAIN);
    range.l_type = F_UNLCK;
    CHECK_OK(::fcntl(f, F_SETLK, &range));
    CHECK_EQUAL(as_user(::geteuid(), ::getegid(), blocked), 0);
    const File other{"f"};
    CHECK_OK(::flock(f, LOCK_EX));
    CHECK_ERROR(::flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    CHECK_OK(::flock(f, LOCK_UN));
    CHECK_OK(::flock(other, LOCK_SH | LOCK_NB));
}

void times() {
    CHECK_OK(put("f", "text"));
    const timespec set[] = {{1'000'000'000, 123'456'789}, {2'000'000'000, 987'654'321}};
    CHECK_OK(::utimensat(AT_FDCWD, "f", set, 0));
    CHECK(same(attributes("f").st_atim, set[0]) && same(attributes("f").st_mtim, set[1])); // nanoseconds stay
    const timespec old[] = {{-100, 5}, {0, UTIME_OMIT}};
    if (offered(::utimensat(AT_FDCWD, "f", old, 0))) {
        CHECK_EQUAL(attributes("f").st_atim.tv_sec, -100);
        CHECK(same(attributes("f").st_mtim, set[1]));
    }
    const auto start = attributes("f");
    let_time_pass();
    CHECK_OK(::chmod("f", 0600));
    CHECK(before(start.st_ctim, attributes("f").st_ctim));
    CHECK(same(start.st_mtim, attributes("f").st_mtim));
    let_time_pass();
    const auto changed = attributes("f");
    const File f{"f"};
    CHECK_EQUAL(::write(f, "TEXT", 4), 4);
    CHECK_OK(::fsync(f));
    CHECK(!same(changed.st_mtim, attributes("f").st_mtim));
    CHECK(before(changed.st_ctim, attributes("f").st_ctim));
    let_time_pass();
    const auto parent = attributes(".");
    CHECK_OK(touch("new"));
    CHECK(before(parent.st_mtim, attributes(".").st_mtim));
    // Relatime: a read moves the time of access when it is not after the last change, and then not again.
    const timespec read_before_change[] = {{1'000'000'000, 0}, {0, UTIME_NOW}};
    CHECK_OK(::utimensat(AT_FDCWD, "f", read_before_change, 0));
    let_time_pass();
    char byte = 0;
    CHECK_EQUAL(::pread(f, &byte, 1, 0), 1);
    const auto first = attributes("f");
    CHECK(first.st_atim.tv_sec > 1'000'000'000);
    let_time_pass();
    CHECK_EQUAL(::pread(f, &byte, 1, 1), 1);
    CHECK(same(first.st_atim, attributes("f").st_atim));
}

void extended_attributes() {
    CHECK_OK(touch("f"));
    if (!offered(::setxattr("f", "user.a", "one", 3, 0)))
        return;
    char value[70'000];
    CHECK_EQUAL(::getxattr("f", "user.a", value, sizeof value), 3);
    CHECK_EQUAL(::getxattr("f", "user.a", nullptr, 0), 3);
    CHECK_ERROR(::getxattr("f", "user.a", value, 2), ERANGE);
    CHECK_ERROR(::getxattr("f", "user.none", value, sizeof value), ENODATA);
    CHECK_ERROR(::setxattr("f", "user.a", "two", 3, XATTR_CREATE), EEXIST);
    CHECK_ERROR(::setxattr("f", "user.b", "two", 3, XATTR_REPLACE), ENODATA);
    CHECK_OK(::setxattr("f", "user.a", "", 0, XATTR_REPLACE));
    CHECK_EQUAL(::getxattr("f", "user.a", value, sizeof value), 0);
    CHECK_OK(::setxattr("f", "user.b", std::string(2000, 'v').data(), 2000, XATTR_CREATE));
    const ssize_t listed = ::listxattr("f", value, sizeof value);
    const std::string names{value, listed < 0 ? 0 : static_cast<std::size_t>(listed)};
    CHECK(names.find(std::string{"user.a\0", 7}) != std::string::npos && names.find(std::string{"user.b\0", 7}) != std::string::npos);
    CHECK_OK(::removexattr("f", "user.a"));
    CHECK_ERROR(::removexattr("f", "user.a"), ENODATA);
    CHECK_ERROR(::setxattr("f", ("user." + std::string(251, 'n')).c_str(), "", 0, 0), ERANGE);
    CHECK_OK(::symlink("f", "link"));
    CHECK_ERROR(::lsetxattr("link", "user.a", "x", 1, 0), EPERM);
}

/// The kernel's form of an ACL: a version and entries of tag, rights, id, all little-endian.
std::string acl_of(std::initializer_list<std::array<unsigned, 3>> entries) {
    std::string bytes{"\x02\0\0\0", 4};
    for (const auto& [tag, rights, id] : entries) {
        for (const unsigned half : {tag, rights})
            bytes += {static_cast<char>(half & 0xff), static_cast<char>(half >> 8)};
        for (unsigned shift = 0; shift < 32; shift += 8)
            bytes += static_cast<char>(id >> shift & 0xff);
    }
    return bytes;
}

void access_control_lists() {
    constexpr unsigned owner = 0x01, named_user = 0x02, owning_group = 0x04, mask = 0x10, others = 0x20, nobody = ~0u;
    CHECK_OK(put("f", "secret"));
    CHECK_OK(::chmod("f", 0600));
    const std::string list = acl_of({{owner, 6, nobody}, {named_user, 4, user}, {owning_group, 0, nobody}, {mask, 4, nobody}, {others, 0, nobody}});
    if (!offered(::setxattr("f", "system.posix_acl_access", list.data(), list.size(), 0)))
        return;
    CHECK_EQUAL(attributes("f").st_mode & 0777, 0640); // the group's bits show the mask
    CHECK_EQUAL(attributes("f").st_size, 6);
    char value[256];
    CHECK_EQUAL(::getxattr("f", "system.posix_acl_access", value, sizeof value), static_cast<long long>(list.size()));
    CHECK(std::string(value, list.size()) == list);
    if (is_root()) {
        const auto may = [](int flags) { return as_user(user, 65533, [flags] { return ::open("f", flags) < 0 ? errno : 0; }); };
        CHECK_EQUAL(may(O_RDONLY), 0);
        CHECK_EQUAL(may(O_WRONLY), EACCES);
        CHECK_OK(::chmod("f", 0600)); // the mask, not the group
        CHECK_EQUAL(may(O_RDONLY), EACCES);
    }
    CHECK_OK(::mkdir("d", 0755));
    const std::string given = acl_of({{owner, 7, nobody}, {named_user, 7, user}, {owning_group, 5, nobody}, {mask, 7, nobody}, {others, 0, nobody}});
    CHECK_OK(::setxattr("d", "system.posix_acl_default", given.data(), given.size(), 0));
    ::umask(077); // does not count below a default list
    CHECK_OK(touch("d/f", 0666));
    CHECK_OK(::mkdir("d/e", 0777));
    ::umask(0);
    CHECK_EQUAL(attributes("d/f").st_mode & 0777, 0660);
    CHECK_EQUAL(attributes("d/e").st_mode & 0777, 0770);
    CHECK_EQUAL(::getxattr("d/e", "system.posix_acl_default", value, sizeof value), static_cast<long long>(given.size()));
    CHECK_ERROR(::getxattr("d/f", "system.posix_acl_default", value, sizeof value), ENODATA);
    CHECK_ERROR(::setxattr("d/f", "system.posix_acl_access", (list + "x").data(), list.size() + 1, 0), EINVAL);
}

void set_id_bits_fall() {
    if (!is_root())
        return;
    for (const bool truncates : {false, true}) {
        CHECK_OK(put("f", "program"));
        CHECK_OK(::chown("f", user, group_id));
        CHECK_OK(::chmod("f", 06777));
        const auto change = [truncates] {
            const int fd = ::open("f", O_WRONLY);
            return (truncates ? ::ftruncate(fd, 1) : static_cast<int>(::write(fd, "x", 1))) < 0 ? errno : 0;
        };
        CHECK_EQUAL(as_user(65533, 65533, change), 0);
        CHECK_EQUAL(attributes("f").st_mode & 07777, 0777);
    }
    CHECK_OK(::chmod("f", 06777));
    CHECK_OK(::chown("f", user, 65533));
    CHECK_EQUAL(attributes("f").st_mode & 06000, 0);
}

void file_flags() {
    CHECK_OK(put("f", "kept"));
    const File f{"f", O_RDONLY};
    int flags = 0;
    if (!offered(::ioctl(f, FS_IOC_GETFLAGS, &flags)) || !is_root())
        return;
    int append = FS_APPEND_FL;
    if (!offered(::ioctl(f, FS_IOC_SETFLAGS, &append)))
        return;
    CHECK_ERROR(::open("f", O_WRONLY), EPERM);
    const int appender = ::open("f", O_WRONLY | O_APPEND);
    CHECK_OK(appender);
    ::close(appender);
    CHECK_ERROR(::unlink("f"), EPERM);
    int immutable = FS_IMMUTABLE_FL;
    CHECK_OK(::ioctl(f, FS_IOC_SETFLAGS, &immutable));
    CHECK_ERROR(::open("f", O_WRONLY | O_APPEND), EPERM);
    CHECK_ERROR(::chmod("f", 0600), EPERM);
    CHECK_ERROR(::link("f", "other-name"), EPERM);
    int none = 0;
    CHECK_OK(::ioctl(f, FS_IOC_SETFLAGS, &none));
    CHECK_OK(::unlink("f"));
}

void space() {
    struct statvfs now {};
    CHECK_OK(::statvfs(".", &now));
    CHECK(now.f_bfree <= now.f_blocks && now.f_bavail <= now.f_bfree && now.f_ffree <= now.f_files);
    CHECK_EQUAL(now.f_namemax, 255);
    CHECK_OK(put("f", pattern(256 * page)));
    const File f{"f"};
    CHECK_OK(::fsync(f));
    struct statvfs then {};
    CHECK_OK(::statvfs(".", &then));
    CHECK(then.f_bfree < now.f_bfree);
    // Free space is told to the device: whole, in a range, and none where nothing is asked for.
    fstrim_range whole{.start = 0, .len = ~0ull, .minlen = 0};
    if (!is_root() || !offered(::ioctl(f, FITRIM, &whole)))
        return;
    CHECK(whole.len <= now.f_blocks * now.f_frsize); // nothing, where each removal told the device already
    fstrim_range part{.start = 0, .len = 1u << 20, .minlen = 0};
    CHECK_OK(::ioctl(f, FITRIM, &part));
    CHECK(part.len <= 1u << 20);
    fstrim_range beyond{.start = ~0ull >> 1, .len = 4096, .minlen = 0};
    CHECK_ERROR(::ioctl(f, FITRIM, &beyond), EINVAL);
    CHECK(get("f") == pattern(256 * page));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: posix_data DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "reads-and-writes", reads_and_writes);
    live::group(root, "appenders", appenders_do_not_overwrite_each_other);
    live::group(root, "sizes", sizes);
    live::group(root, "holes", holes);
    live::group(root, "allocation", allocation);
    live::group(root, "mapped", mapped_files);
    live::group(root, "direct", direct_reads_and_writes);
    live::group(root, "copies", copies);
    live::group(root, "unlinked", unlinked_files_live_on);
    live::group(root, "locks", locks);
    live::group(root, "times", times);
    live::group(root, "xattrs", extended_attributes);
    live::group(root, "acls", access_control_lists);
    live::group(root, "set-id", set_id_bits_fall);
    live::group(root, "flags", file_flags);
    live::group(root, "space", space);
    return live::report("posix_data");
}
