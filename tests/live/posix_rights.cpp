// posix_rights DIR: what the set-group-id bit, chattr(1)'s flags and the names of extended attributes take away. Every answer is ext4's, where this
// runs, too.
#include <array>
#include <utility>
#include <vector>

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include "tests/live/posix_acl_bytes.h"
#include "tests/live/posix_checks.h"

namespace {

using namespace live;

constexpr unsigned owner = 65533, other_user = 65532, file_group = 65534, no_change = ~0u;

/// As a user whose own group is another, and who is in `member_of` besides.
template <class Body>
int as_member(unsigned uid, unsigned member_of, const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        const gid_t groups[] = {member_of};
        const bool changed = ::setgroups(1, groups) == 0 && ::setresgid(uid, uid, uid) == 0 && ::setresuid(uid, uid, uid) == 0;
        ::_exit(changed ? body() : 120);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int result_of(long long result) { return result < 0 ? errno : 0; }

using Change = int (*)();
int with_file(int flags, long long (*change)(int)) {
    const int fd = ::open("f", flags);
    if (fd < 0) return errno;
    const int result = result_of(change(fd));
    ::close(fd);
    return result;
}
int fallocate_by(int mode) {
    const int fd = ::open("f", O_WRONLY);
    const int result = result_of(::fallocate(fd, mode, 0, page));
    ::close(fd);
    return result;
}
int copies() {
    const int from = ::open("source", O_RDONLY), to = ::open("f", O_WRONLY);
    const int result = result_of(::copy_file_range(from, nullptr, to, nullptr, 3, 0));
    ::close(from);
    ::close(to);
    return result;
}

struct Writer {
    const char* name;
    Change change;
};
constexpr std::array<Writer, 10> writers{{
    {"write", [] { return with_file(O_WRONLY, [](int fd) -> long long { return ::write(fd, "x", 1); }); }},
    {"append", [] { return with_file(O_WRONLY | O_APPEND, [](int fd) -> long long { return ::write(fd, "x", 1); }); }},
    {"truncate", [] { return result_of(::truncate("f", 1)); }},
    {"ftruncate", [] { return with_file(O_WRONLY, [](int fd) -> long long { return ::ftruncate(fd, 9000); }); }},
    {"O_TRUNC", [] { return with_file(O_WRONLY | O_TRUNC, [](int) -> long long { return 0; }); }},
    {"allocate", [] { return fallocate_by(0); }},
    {"keep size", [] { return fallocate_by(FALLOC_FL_KEEP_SIZE); }},
    {"punch hole", [] { return fallocate_by(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE); }},
    {"zero range", [] { return fallocate_by(FALLOC_FL_ZERO_RANGE); }},
    {"copy", [] { return copies(); }},
}};

unsigned mode_after(const Writer& writer, unsigned mode, int (*who)(Change)) {
    ::unlink("f");
    CHECK_OK(put("f", pattern(2 * page)));
    CHECK_OK(::chown("f", owner, file_group));
    CHECK_OK(::chmod("f", mode));
    const int result = who(writer.change);
    if (result == EOPNOTSUPP) { // zero range, on some
        ++checks().absent;
        return ~0u;
    }
    CHECK_EQUAL(result, 0);
    return attributes("f").st_mode & 07777;
}

void setgid_without_execute() {
    CHECK_OK(put("source", "abc"));
    const auto outsider = [](Change change) { return as_user(other_user, other_user, change); };
    const auto member = [](Change change) { return as_member(other_user, file_group, change); };
    const auto own_group = [](Change change) { return as_user(other_user, file_group, change); };
    const auto root = [](Change change) { return change(); };
    for (const Writer& writer : writers) {
        const auto falls_to = [&](unsigned mode, int (*who)(Change), unsigned expected) {
            const unsigned is = mode_after(writer, mode, who);
            if (is != ~0u)
                note(is == expected, __FILE__, __LINE__, writer.name,
                     "mode " + std::to_string(mode) + " became " + std::to_string(is) + ", must be " + std::to_string(expected));
        };
        falls_to(02666, outsider, 0666);
        falls_to(06666, outsider, 0666);
        falls_to(02666, member, 02666);
        falls_to(06666, member, 02666);
        falls_to(02666, own_group, 02666);
        falls_to(02676, member, 0676); // with group execute it falls for everybody
        falls_to(06676, root, 06676);
        falls_to(02666, root, 02666);
    }
}

/// An owner outside the file's group gives it to his own: the bit falls. One inside it, and root, keep it where the group may not execute.
void setgid_and_chown() {
    const auto after = [](int (*who)(Change)) {
        ::unlink("f");
        CHECK_OK(touch("f"));
        CHECK_OK(::chown("f", owner, file_group));
        CHECK_OK(::chmod("f", 02644));
        CHECK_EQUAL(who([] { return result_of(::chown("f", no_change, owner)); }), 0);
        return attributes("f").st_mode & 07777;
    };
    CHECK_EQUAL(after([](Change change) { return as_user(owner, owner, change); }), 0644);
    CHECK_EQUAL(after([](Change change) { return as_member(owner, file_group, change); }), 02644);
    CHECK_EQUAL(after([](Change change) { return change(); }), 02644);
}

/// Whoever changes a file takes its capabilities away, root too; also when the kernel has seen just before that there were none.
void capabilities_fall() {
    constexpr std::array<unsigned char, 20> net_raw{1, 0, 0, 2, 0, 0x20}; // version 2, effective, CAP_NET_RAW
    const auto set = [&](const char* to) { return ::setxattr(to, "security.capability", net_raw.data(), net_raw.size(), 0); };
    CHECK_OK(put("source", "abc"));
    for (const Writer& writer : writers) {
        ::unlink("f");
        CHECK_OK(put("f", pattern(2 * page)));
        CHECK_OK(::chmod("f", 0666));
        CHECK_EQUAL(writer.change(), 0);
        for (const bool by_root : {true, false}) {
            CHECK_OK(set("f"));
            CHECK_EQUAL(::getxattr("f", "security.capability", nullptr, 0), net_raw.size());
            CHECK_EQUAL(by_root ? writer.change() : as_user(other_user, other_user, writer.change), 0);
            const bool is_gone = ::getxattr("f", "security.capability", nullptr, 0) < 0 && errno == ENODATA;
            note(is_gone, __FILE__, __LINE__, writer.name, "the capabilities are still there");
        }
    }
    CHECK_OK(set("f"));
    CHECK_OK(::chown("f", owner, no_change));
    CHECK_ERROR(::getxattr("f", "security.capability", nullptr, 0), ENODATA);
}

/// Set-id bits that come between two writes through one descriptor fall as those that were there before.
void set_ids_come_between_writes() {
    CHECK_OK(touch("f"));
    CHECK_OK(::chmod("f", 0666));
    const int fd = ::open("f", O_RDWR | O_CLOEXEC);
    for (const bool inherited : {true, false, true}) {
        CHECK_EQUAL(::pwrite(fd, "x", 1, 0), 1);
        CHECK_OK(::chmod("f", 06777));
        CHECK_EQUAL(::pwrite(fd, "y", 1, 0), 1);
        CHECK_EQUAL(attributes("f").st_mode & 07777, 06777); // root's writes leave them
        CHECK_EQUAL(as_user(other_user, other_user, [&] { return inherited ? result_of(::pwrite(fd, "z", 1, 0)) : writers[0].change(); }), 0);
        CHECK_EQUAL(attributes("f").st_mode & 07777, 0777);
    }
    ::close(fd);
}

void setgid_and_lists() {
    static const std::string minimal = acl_of({{1, 7, ~0u}, {4, 5, ~0u}, {0x20, 5, ~0u}});
    static const std::string named = acl_of({{1, 7, ~0u}, {2, 7, other_user}, {4, 5, ~0u}, {0x10, 7, ~0u}, {0x20, 5, ~0u}});
    static const std::string* list = nullptr;
    static const char* name = nullptr;
    const auto after = [](bool directory, unsigned mode, int (*who)(Change)) {
        ::rmdir("n");
        ::unlink("n");
        CHECK_OK(directory ? ::mkdir("n", 0755) : touch("n"));
        CHECK_OK(::chown("n", owner, file_group));
        CHECK_OK(::chmod("n", mode));
        CHECK_EQUAL(who([] { return result_of(::setxattr("n", name, list->data(), list->size(), 0)); }), 0);
        return attributes("n").st_mode & 02000;
    };
    CHECK_OK(touch("probe"));
    if (!offered(::setxattr("probe", "system.posix_acl_access", named.data(), named.size(), 0))) return;
    for (const std::string* one : {&minimal, &named}) {
        list = one;
        name = "system.posix_acl_access";
        for (const bool directory : {false, true}) {
            CHECK_EQUAL(after(directory, 02755, [](Change change) { return as_user(owner, owner, change); }), 0);
            CHECK_EQUAL(after(directory, 02755, [](Change change) { return as_member(owner, file_group, change); }), 02000);
            CHECK_EQUAL(after(directory, 02755, [](Change change) { return change(); }), 02000);
        }
        name = "system.posix_acl_default";
        CHECK_EQUAL(after(true, 02755, [](Change change) { return as_user(owner, owner, change); }), 02000);
    }
}

/// A file or directory with flags of chattr(1), which the end of the scope takes away.
class Flagged {
public:
    Flagged(const char* name, int flag) : file_{::open(name, O_RDONLY | O_CLOEXEC)} {
        int flags = 0;
        is_set_ = ::ioctl(file_, FS_IOC_GETFLAGS, &before_) == 0 && (flags = before_ | flag, ::ioctl(file_, FS_IOC_SETFLAGS, &flags)) == 0;
        if (!is_set_) ++checks().absent;
    }
    ~Flagged() {
        ::ioctl(file_, FS_IOC_SETFLAGS, &before_);
        ::close(file_);
    }
    Flagged(const Flagged&) = delete;
    Flagged& operator=(const Flagged&) = delete;
    [[nodiscard]] bool is_set() const { return is_set_; }

private:
    int file_;
    int before_ = 0; ///< others that the file system needs, such as that of extents
    bool is_set_ = false;
};

/// What neither an append-only nor an immutable file or directory lets happen to its attributes.
void attributes_stay(const char* name) {
    const timespec set[] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    const timespec one_set[] = {{0, UTIME_NOW}, {1'000'000'000, 0}};
    const timespec one_now[] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    CHECK_ERROR(::chmod(name, 0700), EPERM);
    CHECK_ERROR(::chown(name, owner, no_change), EPERM);
    CHECK_ERROR(::chown(name, no_change, file_group), EPERM);
    CHECK_ERROR(::utimensat(AT_FDCWD, name, set, 0), EPERM);
    CHECK_ERROR(::utimensat(AT_FDCWD, name, one_set, 0), EPERM);
    CHECK_ERROR(::utimensat(AT_FDCWD, name, one_now, 0), EPERM);
    CHECK_ERROR(::setxattr(name, "user.a", "x", 1, 0), EPERM);
    CHECK_ERROR(::removexattr(name, "user.a"), EPERM);
    CHECK_ERROR(::removexattr(name, "user.none"), EPERM);
}

void append_only_file() {
    CHECK_OK(put("f", "kept"));
    CHECK_OK(::setxattr("f", "user.a", "x", 1, 0));
    CHECK_OK(::chown("f", owner, file_group));
    const Flagged flags{"f", FS_APPEND_FL};
    if (!flags.is_set()) return;
    attributes_stay("f");
    CHECK_OK(::utimensat(AT_FDCWD, "f", nullptr, 0)); // now, as a write would
    CHECK_ERROR(::truncate("f", 0), EPERM);
    CHECK_ERROR(::truncate("f", 100), EPERM);
    CHECK_ERROR(::open("f", O_WRONLY | O_APPEND | O_TRUNC), EPERM);
    CHECK_ERROR(::open("f", O_RDWR), EPERM);
    CHECK_ERROR(::rename("f", "g"), EPERM);
    CHECK_ERROR(::link("f", "g"), EPERM);
    CHECK_ERROR(::unlink("f"), EPERM);
    const File end{"f", O_WRONLY | O_APPEND};
    CHECK_OK(::fallocate(end, FALLOC_FL_KEEP_SIZE, 0, page));
    CHECK_ERROR(::fallocate(end, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, page), EPERM);
    CHECK_EQUAL(::write(end, " and more", 9), 9);
    CHECK(get("f") == "kept and more");
}

/// A writer who is not root would take set-user-id away, which the flag forbids.
void append_only_program() {
    CHECK_OK(put("f", "kept"));
    CHECK_OK(::chown("f", owner, file_group));
    CHECK_OK(::chmod("f", 04777));
    const Flagged flags{"f", FS_APPEND_FL};
    if (!flags.is_set()) return;
    CHECK_EQUAL(
        as_user(other_user, other_user, [] { return with_file(O_WRONLY | O_APPEND, [](int fd) -> long long { return ::write(fd, "x", 1); }); }),
        EPERM);
    CHECK_EQUAL(attributes("f").st_mode & 07777, 04777);
}

void immutable_file() {
    CHECK_OK(put("f", "kept"));
    CHECK_OK(::setxattr("f", "user.a", "x", 1, 0));
    const Flagged flags{"f", FS_IMMUTABLE_FL};
    if (!flags.is_set()) return;
    attributes_stay("f");
    CHECK_ERROR(::utimensat(AT_FDCWD, "f", nullptr, 0), EPERM);
    CHECK_ERROR(::truncate("f", 0), EPERM);
    CHECK_ERROR(::rename("f", "g"), EPERM);
    CHECK_ERROR(::unlink("f"), EPERM);
    CHECK(get("f") == "kept");
}

void flagged_directory(int flag) {
    const bool appends = flag == FS_APPEND_FL;
    CHECK_OK(::mkdir("d", 0755));
    CHECK_OK(::mkdir("d/empty", 0755));
    CHECK_OK(::mkdir("d/full", 0755));
    CHECK_OK(touch("d/full/f"));
    CHECK_OK(touch("d/f"));
    CHECK_OK(touch("outside"));
    CHECK_OK(::setxattr("d", "user.a", "x", 1, 0));
    {
        const Flagged flags{"d", flag};
        if (!flags.is_set()) return;
        attributes_stay("d");
        CHECK_ERROR(::rmdir("d/empty"), EPERM);
        CHECK_ERROR(::rmdir("d/full"), EPERM);
        CHECK_ERROR(::unlink("d/f"), EPERM);
        CHECK_ERROR(::rename("d/f", "d/g"), EPERM);
        CHECK_ERROR(::rename("d/f", "g"), EPERM);
        CHECK_ERROR(::rename("outside", "d/f"), EPERM);
        CHECK_ERROR(::rename("d/full", "d/empty"), EPERM);
        CHECK_ERROR(::rename("d", "e"), EPERM);
        CHECK_ERROR(::rmdir("d"), EPERM);
        const std::vector<std::pair<const char*, int>> additions{{"create", ::mknod("d/new", S_IFREG | 0644, 0)},
                                                                 {"mkdir", ::mkdir("d/new-directory", 0755)},
                                                                 {"link", ::link("outside", "d/new-link")},
                                                                 {"symlink", ::symlink("outside", "d/new-symlink")},
                                                                 {"rename", ::rename("outside", "d/moved")}};
        for (const auto& [name, result] : additions) note((result == 0) == appends, __FILE__, __LINE__, name, "a new name");
        CHECK_OK(put("d/f", "what is in a file is not the directory's"));
    }
    CHECK_ERROR(::rmdir("d/full"), ENOTEMPTY);
    CHECK_OK(::rmdir("d/empty"));
}
void append_only_directory() { flagged_directory(FS_APPEND_FL); }
void immutable_directory() { flagged_directory(FS_IMMUTABLE_FL); }
/// The flag of the child itself: before it is looked at whether anything is in it.
void flagged_child() {
    CHECK_OK(::mkdir("d", 0755));
    CHECK_OK(touch("d/f"));
    for (const int flag : {FS_APPEND_FL, FS_IMMUTABLE_FL}) {
        const Flagged flags{"d", flag};
        if (flags.is_set()) CHECK_ERROR(::rmdir("d"), EPERM);
    }
}

void names_of_attributes() {
    CHECK_OK(touch("f", 0666));
    CHECK_OK(::chmod("f", 0666));
    CHECK_OK(::symlink("f", "link"));
    char value[4096];
    for (const char* name : {"user.a", "trusted.a", "security.a"}) {
        CHECK_ERROR(::getxattr("f", name, value, sizeof value), ENODATA);
        CHECK_ERROR(::removexattr("f", name), ENODATA);
        CHECK_OK(::setxattr("f", name, "x", 1, 0));
        CHECK_EQUAL(::getxattr("f", name, value, sizeof value), 1);
    }
    for (const char* name : {"user.", "trusted.", "security."}) {
        CHECK_ERROR(::setxattr("f", name, "x", 1, 0), EINVAL);
        CHECK_ERROR(::getxattr("f", name, value, sizeof value), EINVAL);
        CHECK_ERROR(::removexattr("f", name), EINVAL);
    }
    const auto both = XATTR_CREATE | XATTR_REPLACE; // no attribute can be made and replaced
    CHECK_ERROR(::setxattr("f", "user.a", "y", 1, both), EEXIST);
    CHECK_ERROR(::setxattr("f", "user.both", "y", 1, both), ENODATA);
    for (const char* acl : {"system.posix_acl_access", "system.posix_acl_default"}) { // there is none
        CHECK_OK(::setxattr("f", acl, "", 0, 0));
        CHECK_OK(::setxattr(".", acl, "", 0, 0));
        CHECK_OK(::removexattr(".", acl));
        CHECK_ERROR(::getxattr(".", acl, value, sizeof value), ENODATA);
    }
    for (const char* name : {"a", "user", "users.a", "User.a", ".a", "other.a", "system.a", "system.posix_acl_accessx", "system.posix_acl"}) {
        CHECK_ERROR(::setxattr("f", name, "x", 1, 0), EOPNOTSUPP);
        CHECK_ERROR(::setxattr("f", name, "x", 1, XATTR_REPLACE), EOPNOTSUPP);
        CHECK_ERROR(::getxattr("f", name, value, sizeof value), EOPNOTSUPP);
        CHECK_ERROR(::removexattr("f", name), EOPNOTSUPP);
        CHECK_ERROR(::lsetxattr("link", name, "x", 1, 0), EOPNOTSUPP);
    }
    CHECK_OK(::lsetxattr("link", "trusted.a", "x", 1, 0));
    const auto names = [&](const char* of) {
        const ssize_t bytes = ::llistxattr(of, value, sizeof value);
        return std::string{value, bytes < 0 ? 0 : static_cast<std::size_t>(bytes)};
    };
    const auto has = [](const std::string& all, const char* name) { return all.find(name) != std::string::npos; };
    CHECK(has(names("f"), "user.a") && has(names("f"), "trusted.a") && has(names("f"), "security.a"));
    // trusted. is there for root only: others are told that there is none, and may neither set nor remove it.
    CHECK_EQUAL(as_user(other_user, other_user, [&] { return has(names("f"), "user.a") && !has(names("f"), "trusted.") ? 0 : 1; }), 0);
    CHECK_EQUAL(as_user(other_user, other_user, [&] { return ::listxattr("f", nullptr, 0) == static_cast<ssize_t>(names("f").size()) ? 0 : 1; }), 0);
    CHECK_EQUAL(AS_USER(other_user, other_user, ::getxattr("f", "trusted.a", value, sizeof value)), ENODATA);
    CHECK_EQUAL(AS_USER(other_user, other_user, ::setxattr("f", "trusted.a", "y", 1, 0)), EPERM);
    CHECK_EQUAL(AS_USER(other_user, other_user, ::removexattr("f", "trusted.a")), EPERM);
    CHECK_EQUAL(AS_USER(other_user, other_user, ::setxattr("f", "security.a", "y", 1, 0)), EPERM);
    CHECK_EQUAL(AS_USER(other_user, other_user, ::setxattr("f", "user.b", "y", 1, 0)), 0);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 || ::geteuid() != 0) {
        std::fprintf(stderr, "usage, as root: posix_rights DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "setgid", setgid_without_execute);
    live::group(root, "setgid-chown", setgid_and_chown);
    live::group(root, "capabilities", capabilities_fall);
    live::group(root, "set-ids-between", set_ids_come_between_writes);
    live::group(root, "setgid-lists", setgid_and_lists);
    live::group(root, "append-file", append_only_file);
    live::group(root, "append-program", append_only_program);
    live::group(root, "immutable-file", immutable_file);
    live::group(root, "append-directory", append_only_directory);
    live::group(root, "immutable-directory", immutable_directory);
    live::group(root, "flagged-child", flagged_child);
    live::group(root, "attribute-names", names_of_attributes);
    return live::report("posix_rights");
}
