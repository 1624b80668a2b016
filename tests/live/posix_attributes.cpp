// posix_attributes DIR: what hangs on a file beside its bytes: times, extended attributes, ACLs, set-id bits, flags, and the space that is left.
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "tests/live/posix_acl_bytes.h"
#include "tests/live/posix_checks.h"

namespace {

using namespace live;

constexpr unsigned user = 65534, group_id = 65534;
bool is_root() { return ::geteuid() == 0; }
bool before(const timespec& a, const timespec& b) { return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec; }
bool same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }
void let_time_pass() { ::usleep(20'000); } // longer than a kernel tick, the grain of some file systems' times

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
    if (!offered(::setxattr("f", "user.a", "one", 3, 0))) return;
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

void access_control_lists() {
    constexpr unsigned owner = 0x01, named_user = 0x02, owning_group = 0x04, mask = 0x10, others = 0x20, nobody = ~0u;
    CHECK_OK(put("f", "secret"));
    CHECK_OK(::chmod("f", 0600));
    const std::string list = acl_of({{owner, 6, nobody}, {named_user, 4, user}, {owning_group, 0, nobody}, {mask, 4, nobody}, {others, 0, nobody}});
    if (!offered(::setxattr("f", "system.posix_acl_access", list.data(), list.size(), 0))) return;
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
    if (!is_root()) return;
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
    if (!offered(::ioctl(f, FS_IOC_GETFLAGS, &flags)) || !is_root()) return;
    int append = FS_APPEND_FL;
    if (!offered(::ioctl(f, FS_IOC_SETFLAGS, &append))) return;
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
    if (!is_root() || !offered(::ioctl(f, FITRIM, &whole))) return;
    CHECK(whole.len <= now.f_blocks * now.f_frsize); // nothing, where each removal told the device already
    fstrim_range part{.start = 0, .len = 1u << 20, .minlen = 0};
    CHECK_OK(::ioctl(f, FITRIM, &part));
    CHECK(part.len <= 1u << 20);
    fstrim_range beyond{.start = ~0ull >> 1, .len = 4096, .minlen = 0};
    CHECK_ERROR(::ioctl(f, FITRIM, &beyond), EINVAL);
    for (fstrim_range bad : {fstrim_range{0, 0, 0}, fstrim_range{0, now.f_frsize - 1, 0}, fstrim_range{0, ~0ull, ~0ull},
                             fstrim_range{now.f_blocks * now.f_frsize, ~0ull, 0}})
        CHECK_ERROR(::ioctl(f, FITRIM, &bad), EINVAL);
    CHECK(get("f") == pattern(256 * page));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: posix_attributes DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "times", times);
    live::group(root, "xattrs", extended_attributes);
    live::group(root, "acls", access_control_lists);
    live::group(root, "set-id", set_id_bits_fall);
    live::group(root, "flags", file_flags);
    live::group(root, "space", space);
    return live::report("posix_attributes");
}
