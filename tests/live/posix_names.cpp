// posix_names DIR: names and links: open flags, creation, links, rename in all its modes, sticky and set-group-id directories, listings, file
// handles.
#include <dirent.h>
#include <set>
#include <sys/sysmacros.h>

#include "tests/live/posix_checks.h"

namespace {

using namespace live;

constexpr unsigned user = 65534, other = 65533, group_id = 65534;
bool is_root() { return ::geteuid() == 0; }

int close_of(int fd) { return fd < 0 ? -1 : ::close(fd); }
int rename2(const char* from, const char* to, unsigned flags) { return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, flags); }

void opens() {
    CHECK_ERROR(::open("none", O_RDONLY), ENOENT);
    CHECK_OK(close_of(::open("a", O_CREAT | O_EXCL | O_RDWR, 0600)));
    CHECK_ERROR(::open("a", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
    CHECK_OK(close_of(::open("a", O_CREAT | O_RDWR, 0600)));
    CHECK_ERROR(::open("a", O_RDONLY | O_DIRECTORY), ENOTDIR);
    CHECK_ERROR(::open(".", O_WRONLY), EISDIR);
    CHECK_ERROR(::open(".", O_RDWR), EISDIR);
    CHECK_ERROR(::open("a/b", O_RDONLY), ENOTDIR);
    CHECK_ERROR(::open("a/", O_RDONLY), ENOTDIR);
    CHECK_ERROR(::open("new/", O_CREAT | O_RDWR, 0600), EISDIR);
    CHECK_OK(::symlink("a", "to-a"));
    CHECK_ERROR(::open("to-a", O_RDONLY | O_NOFOLLOW), ELOOP);
    CHECK_OK(close_of(::open("to-a", O_RDONLY)));
    CHECK_ERROR(::open("to-a", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
    CHECK_OK(::symlink("later", "to-later"));
    CHECK_ERROR(::open("to-later", O_RDONLY), ENOENT);
    CHECK_OK(close_of(::open("to-later", O_CREAT | O_RDWR, 0600)));
    CHECK(exists("later"));
    CHECK_OK(::symlink("loop-b", "loop-a"));
    CHECK_OK(::symlink("loop-a", "loop-b"));
    CHECK_ERROR(::open("loop-a", O_RDONLY), ELOOP);
    CHECK_OK(put("t", "0123456789"));
    CHECK_OK(close_of(::open("t", O_WRONLY | O_TRUNC)));
    CHECK_EQUAL(attributes("t").st_size, 0);
    ::umask(027);
    CHECK_OK(close_of(::open("masked", O_CREAT | O_WRONLY, 0777)));
    CHECK_EQUAL(attributes("masked").st_mode & 07777, 0750);
    ::umask(0);
    const int read_only = ::open("a", O_CREAT | O_RDONLY, 0000);
    CHECK_ERROR(::write(read_only, "x", 1), EBADF);
    close_of(read_only);
    const int fresh = ::open("no-rights", O_CREAT | O_EXCL | O_RDWR, 0000);
    CHECK_EQUAL(::write(fresh, "x", 1), 1); // the mode counts from the next open on
    close_of(fresh);
    const int path = ::open("a", O_PATH);
    CHECK_ERROR(::read(path, nullptr, 0), EBADF);
    close_of(path);
    const std::string longest(255, 'n');
    CHECK_OK(touch(longest.c_str()));
    CHECK_ERROR(touch((longest + "n").c_str()), ENAMETOOLONG);
    CHECK_ERROR(::mkdir((longest + "n").c_str(), 0777), ENAMETOOLONG);
    CHECK(exists(longest.c_str()));
    CHECK_OK(touch("sp ace\n\xff\x01 name"));
    CHECK(exists("sp ace\n\xff\x01 name"));
}

void directories() {
    CHECK_OK(::mkdir("d", 0755));
    CHECK_ERROR(::mkdir("d", 0755), EEXIST);
    CHECK_ERROR(::mkdir("none/d", 0755), ENOENT);
    CHECK_EQUAL(attributes("d").st_nlink, 2);
    CHECK_OK(::mkdir("d/e", 0755));
    const bool counts = attributes("d").st_nlink == 3;
    CHECK(counts);
    CHECK_ERROR(::rmdir("d"), ENOTEMPTY);
    CHECK_ERROR(::rmdir("d/e/."), EINVAL);
    CHECK(::rmdir("d/e/..") < 0 && (errno == ENOTEMPTY || errno == EEXIST));
    CHECK_ERROR(::unlink("d"), EISDIR);
    CHECK_OK(::rmdir("d/e"));
    CHECK_EQUAL(attributes("d").st_nlink, 2);
    CHECK_OK(touch("f"));
    CHECK_ERROR(::rmdir("f"), ENOTDIR);
    CHECK_ERROR(::rmdir("none"), ENOENT);
    CHECK_ERROR(::mkdir("f/d", 0755), ENOTDIR);
    CHECK_OK(::symlink("d", "to-d"));
    CHECK_ERROR(::rmdir("to-d"), ENOTDIR);
    CHECK_ERROR(::mkdir("to-d", 0755), EEXIST);
    const int held = ::open("d", O_RDONLY | O_DIRECTORY);
    CHECK_OK(::rmdir("d"));
    CHECK_ERROR(::openat(held, "x", O_CREAT | O_RDWR, 0600), ENOENT);
    CHECK_ERROR(::mkdirat(held, "x", 0700), ENOENT);
    struct stat a {};
    CHECK_OK(::fstat(held, &a));
    CHECK_EQUAL(a.st_nlink, 0);
    CHECK_OK(::lseek(held, 0, SEEK_SET));
    close_of(held);
    CHECK_OK(::mkdir("self", 0755));
    CHECK_EQUAL(attributes("self/.").st_ino, attributes("self").st_ino);
    CHECK_EQUAL(attributes("self/..").st_ino, attributes(".").st_ino);
}

void links() {
    CHECK_OK(put("a", "text"));
    CHECK_OK(::link("a", "b"));
    CHECK_EQUAL(attributes("a").st_nlink, 2);
    CHECK_EQUAL(attributes("a").st_ino, attributes("b").st_ino);
    CHECK_ERROR(::link("a", "b"), EEXIST);
    CHECK_ERROR(::link("none", "c"), ENOENT);
    CHECK_OK(::mkdir("d", 0755));
    CHECK_ERROR(::link("d", "e"), EPERM);
    CHECK_ERROR(::link("a", "a/b"), ENOTDIR);
    CHECK_OK(::unlink("a"));
    CHECK_EQUAL(attributes("b").st_nlink, 1);
    CHECK(get("b") == "text");
    CHECK_OK(::symlink("b", "s"));
    CHECK_OK(::linkat(AT_FDCWD, "s", AT_FDCWD, "hard-to-s", 0));
    CHECK(S_ISLNK(attributes("hard-to-s").st_mode));
    CHECK_OK(::linkat(AT_FDCWD, "s", AT_FDCWD, "hard-to-b", AT_SYMLINK_FOLLOW));
    CHECK_EQUAL(attributes("hard-to-b").st_ino, attributes("b").st_ino);
    const int fd = ::open("b", O_RDWR);
    CHECK_OK(::unlink("b"));
    CHECK_OK(::unlink("hard-to-b"));
    char byte = 0;
    CHECK_EQUAL(::pread(fd, &byte, 1, 0), 1);
    CHECK_EQUAL(::pwrite(fd, "more", 4, 4), 4);
    struct stat a {};
    CHECK_OK(::fstat(fd, &a));
    CHECK_EQUAL(a.st_nlink, 0);
    CHECK_EQUAL(a.st_size, 8);
    CHECK_OK(::ftruncate(fd, 100));
    CHECK_OK(::fchmod(fd, 0600));
    const std::string self = "/proc/self/fd/" + std::to_string(fd);
    CHECK_ERROR(::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, "back", AT_SYMLINK_FOLLOW), ENOENT);
    CHECK_OK(close_of(fd));
    const std::string target(4095, 't');
    CHECK_OK(::symlink(target.c_str(), "long"));
    char back[8192] = {};
    CHECK_EQUAL(::readlink("long", back, sizeof back), 4095);
    CHECK(target == back);
    CHECK_EQUAL(attributes("long").st_size, 4095);
    CHECK_EQUAL(::readlink("long", back, 10), 10);
    CHECK_ERROR(::symlink((target + "t").c_str(), "longer"), ENAMETOOLONG);
    CHECK_ERROR(::symlink("", "empty"), ENOENT);
    CHECK_ERROR(::symlink("x", "long"), EEXIST);
    CHECK_ERROR(::readlink("d", back, sizeof back), EINVAL);
    CHECK_OK(touch("many"));
    for (int i = 0; i < 1000; ++i) {
        CHECK_OK(::link("many", ("many-" + std::to_string(i)).c_str()));
    }
    CHECK_EQUAL(attributes("many").st_nlink, 1001);
}

void special_files() {
    CHECK_OK(::mkfifo("fifo", 0640));
    CHECK(S_ISFIFO(attributes("fifo").st_mode));
    CHECK_OK(::mknod("socket", S_IFSOCK | 0600, 0));
    CHECK(S_ISSOCK(attributes("socket").st_mode));
    CHECK_ERROR(::open("socket", O_RDONLY), ENXIO);
    CHECK_OK(::mknod("plain", S_IFREG | 0600, 0));
    CHECK(S_ISREG(attributes("plain").st_mode));
    const int reader = ::open("fifo", O_RDONLY | O_NONBLOCK);
    const int writer = ::open("fifo", O_WRONLY | O_NONBLOCK);
    CHECK_EQUAL(::write(writer, "x", 1), 1);
    char byte = 0;
    CHECK_EQUAL(::read(reader, &byte, 1), 1);
    close_of(reader);
    CHECK_ERROR(::open("fifo", O_WRONLY | O_NONBLOCK), ENXIO);
    close_of(writer);
    if (!is_root()) {
        return;
    }
    CHECK_OK(::mknod("char", S_IFCHR | 0600, makedev(0xabc, 0xdef12)));
    CHECK_EQUAL(attributes("char").st_rdev, makedev(0xabc, 0xdef12));
    CHECK_OK(::mknod("block", S_IFBLK | 0600, makedev(7, 300)));
    CHECK_EQUAL(attributes("block").st_rdev, makedev(7, 300));
    CHECK_EQUAL(AS_USER(user, group_id, ::mknod("denied", S_IFCHR | 0600, makedev(1, 3))), EPERM);
}

void renames() {
    CHECK_OK(put("a", "a"));
    CHECK_OK(put("b", "b"));
    CHECK_ERROR(::rename("none", "x"), ENOENT);
    CHECK_OK(::rename("a", "c"));
    CHECK(!exists("a") && get("c") == "a");
    CHECK_OK(::rename("c", "b"));
    CHECK(get("b") == "a");
    CHECK_OK(::rename("b", "b"));
    CHECK_OK(::link("b", "b2"));
    CHECK_OK(::rename("b", "b2")); // one file: nothing happens
    CHECK(exists("b") && exists("b2"));
    CHECK_OK(::mkdir("d", 0755));
    CHECK_OK(::mkdir("d/sub", 0755));
    CHECK_OK(::mkdir("empty", 0755));
    CHECK_ERROR(::rename("d", "d/sub/x"), EINVAL);
    CHECK_ERROR(::rename("d/sub", "d"), ENOTEMPTY);
    CHECK_ERROR(::rename("b", "d"), EISDIR);
    CHECK_ERROR(::rename("d", "b"), ENOTDIR);
    CHECK_ERROR(::rename("empty", "d"), ENOTEMPTY);
    CHECK_ERROR(::rename("b", "none/x"), ENOENT);
    CHECK_ERROR(::rename("b", "b2/x"), ENOTDIR);
    CHECK_OK(::rename("d", "empty"));
    CHECK(!exists("d") && exists("empty/sub"));
    CHECK_EQUAL(attributes("empty").st_nlink, 3);
    CHECK_OK(::mkdir("other", 0755));
    CHECK_OK(::rename("empty/sub", "other/sub"));
    CHECK_EQUAL(attributes("empty").st_nlink, 2);
    CHECK_EQUAL(attributes("other").st_nlink, 3);
    CHECK_EQUAL(attributes("other/sub/..").st_ino, attributes("other").st_ino);
    CHECK_ERROR(rename2("b", "b2", RENAME_NOREPLACE), EEXIST);
    CHECK_OK(rename2("b", "b3", RENAME_NOREPLACE));
    CHECK_ERROR(rename2("b3", "none", RENAME_EXCHANGE), ENOENT);
    CHECK_OK(rename2("b3", "other", RENAME_EXCHANGE));
    CHECK(S_ISDIR(attributes("b3").st_mode) && S_ISREG(attributes("other").st_mode));
    CHECK(exists("b3/sub"));
    CHECK_ERROR(rename2("b3", "b3/sub", RENAME_EXCHANGE), EINVAL);
    CHECK_ERROR(rename2("b2", "b3", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL);
    const int white = rename2("b2", "moved", RENAME_WHITEOUT);
    if (is_root() && offered(white)) {
        CHECK_EQUAL(white, 0);
        CHECK(S_ISCHR(attributes("b2").st_mode) && attributes("b2").st_rdev == 0);
        CHECK(get("moved") == "a");
    }
    CHECK_OK(::symlink("nowhere", "s"));
    CHECK_OK(put("f", "f"));
    CHECK_OK(::rename("f", "s"));
    CHECK(S_ISREG(attributes("s").st_mode));
    const int held = ::open("s", O_RDONLY);
    CHECK_OK(put("n", "new"));
    CHECK_OK(::rename("n", "s"));
    char byte = 0;
    CHECK_EQUAL(::read(held, &byte, 1), 1);
    CHECK_EQUAL(byte, 'f');
    CHECK(get("s") == "new");
    close_of(held);
}

void rights() {
    if (!is_root()) {
        return;
    }
    CHECK_OK(::mkdir("sticky", 01777));
    CHECK_OK(::chmod("sticky", 01777));
    CHECK_EQUAL(AS_USER(user, group_id, touch("sticky/mine")), 0);
    CHECK_EQUAL(AS_USER(other, group_id, ::unlink("sticky/mine")), EPERM);
    CHECK_EQUAL(AS_USER(other, group_id, ::rename("sticky/mine", "sticky/yours")), EPERM);
    CHECK_EQUAL(AS_USER(user, group_id, ::rename("sticky/mine", "sticky/still-mine")), 0);
    CHECK_EQUAL(AS_USER(user, group_id, ::unlink("sticky/still-mine")), 0);
    CHECK_OK(::mkdir("shared", 0777));
    CHECK_OK(::chown("shared", 0, 4242));
    CHECK_OK(::chmod("shared", 02777));
    CHECK_EQUAL(AS_USER(user, group_id, touch("shared/file")), 0);
    CHECK_EQUAL(attributes("shared/file").st_gid, 4242);
    CHECK_EQUAL(AS_USER(user, group_id, ::mkdir("shared/dir", 0755)), 0);
    CHECK_EQUAL(attributes("shared/dir").st_gid, 4242);
    CHECK_EQUAL(attributes("shared/dir").st_mode & 07777, 02755);
    CHECK_OK(::mkdir("closed", 0700));
    CHECK_OK(touch("closed/f"));
    CHECK_EQUAL(AS_USER(user, group_id, ::open("closed/f", O_RDONLY)), EACCES);
    CHECK_EQUAL(AS_USER(user, group_id, touch("closed/new")), EACCES);
    CHECK_EQUAL(AS_USER(user, group_id, ::mkdir("closed/d", 0700)), EACCES);
    CHECK_OK(::mkdir("listed", 0744));
    CHECK_EQUAL(AS_USER(user, group_id, ::access("listed/x", F_OK)), EACCES);
    CHECK_OK(touch("f", 0600));
    CHECK_EQUAL(AS_USER(user, group_id, ::open("f", O_RDONLY)), EACCES);
    CHECK_EQUAL(AS_USER(user, group_id, ::truncate("f", 0)), EACCES);
    CHECK_EQUAL(AS_USER(user, group_id, ::chmod("f", 0666)), EPERM);
    CHECK_EQUAL(AS_USER(user, group_id, ::chown("f", user, group_id)), EPERM);
    CHECK_OK(::chmod("f", 0004));
    CHECK_EQUAL(AS_USER(user, group_id, ::open("f", O_RDONLY)), 0);
    CHECK_EQUAL(AS_USER(user, group_id, ::access("f", W_OK)), EACCES);
}

void listings() {
    std::set<std::string> must;
    for (int i = 0; i < 1500; ++i) {
        const std::string name = "entry-" + std::to_string(i);
        CHECK_OK(touch(name.c_str()));
        must.insert(name);
    }
    DIR* dir = ::opendir(".");
    std::set<std::string> seen;
    int dots = 0, removed = 0;
    while (const dirent* e = ::readdir(dir)) {
        const std::string name = e->d_name;
        if (name == "." || name == "..") {
            ++dots;
            continue;
        }
        CHECK(seen.insert(name).second);
        if (seen.size() % 2 == 0 && ::unlink(name.c_str()) == 0) {
            ++removed;
        }
        if (seen.size() % 50 == 0) {
            touch(("late-" + std::to_string(seen.size())).c_str());
        }
    }
    CHECK_EQUAL(dots, 2);
    for (const std::string& name : must) {
        CHECK(seen.contains(name)); // what was there throughout is listed once
    }
    ::rewinddir(dir);
    std::size_t left = 0;
    long middle = 0;
    std::string after_middle;
    while (const dirent* e = ::readdir(dir)) {
        if (left == 101) after_middle = e->d_name;
        if (++left == 101) middle = ::telldir(dir);
    }
    CHECK(left >= 1500u - static_cast<unsigned>(removed));
    ::seekdir(dir, middle);
    const dirent* again = ::readdir(dir);
    CHECK(again != nullptr && after_middle == again->d_name);
    ::closedir(dir);
    CHECK_OK(::mkdir("types", 0755));
    CHECK_OK(::symlink("x", "types/l"));
    CHECK_OK(::mkfifo("types/p", 0600));
    CHECK_OK(touch("types/f"));
    dir = ::opendir("types");
    while (const dirent* e = ::readdir(dir)) {
        const struct stat a = attributes((std::string{"types/"} + e->d_name).c_str());
        CHECK(e->d_type == IFTODT(a.st_mode));
        if (e->d_name[0] != '.') CHECK_EQUAL(e->d_ino, a.st_ino);
    }
    ::closedir(dir);
}

void handles() {
    CHECK_OK(::mkdir("d", 0755));
    CHECK_OK(put("d/f", "handle"));
    char space[sizeof(file_handle) + MAX_HANDLE_SZ];
    auto* handle = reinterpret_cast<file_handle*>(space);
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    const int named = ::name_to_handle_at(AT_FDCWD, "d/f", handle, &mount, 0);
    if (!offered(named)) {
        return;
    }
    CHECK_EQUAL(named, 0);
    const int base = ::open(".", O_RDONLY | O_DIRECTORY);
    CHECK_OK(::rename("d/f", "moved"));
    const int fd = ::open_by_handle_at(base, handle, O_RDONLY);
    CHECK_OK(fd);
    char text[16] = {};
    CHECK_EQUAL(::read(fd, text, sizeof text), 6);
    close_of(fd);
    CHECK_OK(::unlink("moved"));
    // The kernel gives the last open up a moment after close: until then the file is still there.
    int stale = 0;
    for (int tries = 0; tries < 200 && (stale = ::open_by_handle_at(base, handle, O_RDONLY)) >= 0; ++tries) {
        ::close(stale);
        ::usleep(10'000);
    }
    CHECK_ERROR(::open_by_handle_at(base, handle, O_RDONLY), ESTALE);
    close_of(base);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: posix_names DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "opens", opens);
    live::group(root, "directories", directories);
    live::group(root, "links", links);
    live::group(root, "special", special_files);
    live::group(root, "renames", renames);
    live::group(root, "rights", rights);
    live::group(root, "listings", listings);
    live::group(root, "handles", handles);
    return live::report("posix_names");
}
