// posix_refused DIR: an open that the kernel refuses leaves the file as it was, even if it asks for O_TRUNC.
#include <array>
#include <csignal>
#include <filesystem>
#include <functional>

#include <linux/fs.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "tests/live/posix_checks.h"

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif

namespace {

using namespace live;

constexpr const char* text = "what was there before";

/// Opens "f" so, expects the error, and that the file and its times stay.
void refused(int flags, int error) {
    const struct stat before = attributes("f");
    CHECK_ERROR(::open("f", flags | O_CLOEXEC), error);
    const struct stat after = attributes("f");
    CHECK_EQUAL(after.st_size, before.st_size);
    CHECK_EQUAL(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    CHECK_EQUAL(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
}

/// Runs `body` in a child; the checks that failed there count here.
void in_child(const std::function<void()>& body) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        checks().failed = 0;
        body();
        std::fflush(stdout);
        ::_exit(checks().failed == 0 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
}

/// A process that runs the file "f" of the working directory, and waits. 0: no program may be started here.
pid_t run_program() {
    std::error_code error;
    std::filesystem::copy_file("/proc/self/exe", "f", error);
    CHECK(!error);
    CHECK_OK(::chmod("f", 0755));
    std::array<int, 2> begun{};
    CHECK_OK(::pipe2(begun.data(), O_CLOEXEC));
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execl("./f", "f", "--wait", nullptr);
        ::_exit(::write(begun[1], "", 1) == 1 ? 126 : 127);
    }
    ::close(begun[1]);
    char byte = 0;
    const bool runs = ::read(begun[0], &byte, 1) == 0; // execve(2) has closed it
    ::close(begun[0]);
    if (runs) return child;
    ::waitpid(child, nullptr, 0);
    ++checks().absent;
    return 0;
}

void running_program() {
    const pid_t child = run_program();
    if (child == 0) return;
    const auto whole = attributes("f").st_size;
    for (const int mode : {O_RDONLY, O_WRONLY, O_RDWR}) refused(mode | O_TRUNC, ETXTBSY);
    refused(O_RDONLY | O_TRUNC | O_CREAT, ETXTBSY);
    CHECK_ERROR(::truncate("f", 0), ETXTBSY);
    CHECK_EQUAL(attributes("f").st_size, whole);
    int status = 0;
    CHECK_EQUAL(::waitpid(child, &status, WNOHANG), 0); // alive
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    CHECK_EQUAL(WIFSIGNALED(status) ? WTERMSIG(status) : -1, SIGKILL);
    CHECK_OK(::close(::open("f", O_WRONLY | O_TRUNC)));
    CHECK_EQUAL(attributes("f").st_size, 0);
}

/// Landlock lets this process write files, but not truncate them.
bool forbid_truncation() {
    struct {
        std::uint64_t handled_access_fs;
    } rules{LANDLOCK_ACCESS_FS_TRUNCATE};
    if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 3) return false;
    const auto set = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0));
    return set >= 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_landlock_restrict_self, set, 0) == 0;
}

void forbidden_by_a_security_module() {
    CHECK_OK(put("f", text));
    in_child([] {
        if (!forbid_truncation()) return static_cast<void>(std::puts("no Landlock that knows of truncation here"));
        for (const int mode : {O_RDONLY, O_WRONLY, O_RDWR}) refused(mode | O_TRUNC, EACCES);
        CHECK(get("f") == text);
    });
    CHECK(get("f") == text);
}

void leased_file() {
    CHECK_OK(put("f", text));
    const File held{"f", O_RDONLY};
    if (!offered(::fcntl(held, F_SETLEASE, F_WRLCK))) return;
    std::signal(SIGIO, SIG_IGN);
    for (const int mode : {O_RDONLY, O_WRONLY}) refused(mode | O_TRUNC | O_NONBLOCK, EWOULDBLOCK);
    CHECK_OK(::fcntl(held, F_SETLEASE, F_UNLCK)); // who opens the file would wait for it
    CHECK(get("f") == text);
}

void without_rights() {
    CHECK_OK(put("f", text));
    CHECK_OK(::chmod("f", 0444));
    in_child([] {
        if (::setresgid(65533, 65533, 65533) != 0 || ::setresuid(65533, 65533, 65533) != 0) std::abort();
        for (const int mode : {O_RDONLY, O_WRONLY}) refused(mode | O_TRUNC, EACCES);
        refused(O_RDONLY | O_TRUNC | O_CREAT, EACCES);
    });
    CHECK(get("f") == text);
}

void behind_a_read_only_bind_mount() {
    CHECK_OK(put("f", text));
    in_child([] {
        char here[4096];
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || ::getcwd(here, sizeof here) == nullptr)
            return;
        CHECK_OK(::mount(here, here, nullptr, MS_BIND, nullptr));
        CHECK_OK(::mount("none", here, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr));
        CHECK_OK(::chdir(here));
        for (const int mode : {O_RDONLY, O_WRONLY}) refused(mode | O_TRUNC, EROFS);
        CHECK_ERROR(::truncate("f", 0), EROFS);
        CHECK_ERROR(::setxattr("f", "user.a", "x", 1, 0), EROFS);
        CHECK_ERROR(::unlink("f"), EROFS);
        CHECK(get("f") == text);
    });
    CHECK(get("f") == text);
}

void flagged_file() {
    CHECK_OK(put("f", text));
    for (const int flag : {FS_APPEND_FL, FS_IMMUTABLE_FL}) {
        const File file{"f", O_RDONLY};
        if (!offered(::ioctl(file, FS_IOC_SETFLAGS, &flag))) return;
        for (const int mode : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR | O_APPEND}) refused(mode | O_TRUNC, EPERM);
        CHECK(get("f") == text);
        const int none = 0;
        CHECK_OK(::ioctl(file, FS_IOC_SETFLAGS, &none));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string{argv[1]} == "--wait") {
        for (;;) ::pause();
    }
    if (argc != 2 || ::geteuid() != 0) {
        std::fprintf(stderr, "usage, as root: posix_refused DIR\n");
        return 2;
    }
    ::umask(0);
    const std::string root = argv[1];
    live::group(root, "running", running_program);
    live::group(root, "landlock", forbidden_by_a_security_module);
    live::group(root, "leased", leased_file);
    live::group(root, "no-rights", without_rights);
    live::group(root, "read-only-bind", behind_a_read_only_bind_mount);
    live::group(root, "flagged", flagged_file);
    return live::report("posix_refused");
}
