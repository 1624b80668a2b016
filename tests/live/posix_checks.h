/// Small checks of what POSIX and the manual pages of Linux say, on any directory: `program DIR`. On ext4 and tmpfs they show that they are right
/// themselves.
///
/// Idea       One line a check: the call and what it must give. All run; failures are printed with file and line, the exit code says whether there
///            were any.
/// Invariant  A check may use what an earlier one of its group left; groups have directories of their own.
/// Cost       Some microseconds each.
/// Power cut  -
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace live {

struct Checks {
    int made = 0;
    int failed = 0;
    int absent = 0; ///< not offered by this file system: ENOTTY, EOPNOTSUPP
};

inline Checks& checks() {
    static Checks all;
    return all;
}

inline void note(bool good, const char* file, int line, const char* text, const std::string& instead) {
    ++checks().made;
    if (good) {
        return;
    }
    ++checks().failed;
    std::printf("%s:%d: %s: %s\n", file, line, text, instead.c_str());
}

inline std::string error_name(int error) { return error == 0 ? "no error" : std::strerror(error); }

#define CHECK(condition) live::note((condition), __FILE__, __LINE__, #condition, "does not hold")
#define CHECK_EQUAL(is, must)                                                                                                                        \
    do {                                                                                                                                             \
        const auto is_value = static_cast<long long>(is);                                                                                            \
        const auto must_value = static_cast<long long>(must);                                                                                        \
        live::note(is_value == must_value, __FILE__, __LINE__, #is, std::to_string(is_value) + ", must be " + std::to_string(must_value));           \
    } while (false)
#define CHECK_OK(call)                                                                                                                               \
    do {                                                                                                                                             \
        errno = 0;                                                                                                                                   \
        const bool is_good = (call) >= 0;                                                                                                            \
        live::note(is_good, __FILE__, __LINE__, #call, live::error_name(errno));                                                                     \
    } while (false)
#define CHECK_ERROR(call, number)                                                                                                                    \
    do {                                                                                                                                             \
        errno = 0;                                                                                                                                   \
        const bool is_refused = (call) < 0;                                                                                                          \
        live::note(is_refused&& errno == (number), __FILE__, __LINE__, #call,                                                                        \
                   (is_refused ? live::error_name(errno) : "no error") + std::string{", must be "} + live::error_name(number));                      \
    } while (false)

/// What a file system need not have: counted, not failed.
inline bool offered(long result) {
    if (result >= 0 || (errno != ENOTTY && errno != EOPNOTSUPP && errno != ENOSYS)) {
        return true;
    }
    ++checks().absent;
    return false;
}

/// A directory of its own for a group of checks; the working directory while it runs.
inline void group(const std::string& root, const char* name, void (*run)()) {
    const std::string dir = root + "/" + name;
    if (::mkdir(dir.c_str(), 0777) != 0 || ::chdir(dir.c_str()) != 0) {
        std::printf("%s: %s\n", dir.c_str(), std::strerror(errno));
        ++checks().failed;
        return;
    }
    ::chmod(".", 0777);
    run();
    if (::chdir("/") != 0) {
        std::abort();
    }
}

/// The result of `body` as another user; -1 when it cannot be had.
template <class Body>
int as_user(unsigned uid, unsigned gid, const Body& body) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgroups(0, nullptr) != 0 || ::setresgid(gid, gid, gid) != 0 || ::setresuid(uid, uid, uid) != 0) {
            ::_exit(120);
        }
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
/// The errno of a call made as another user, 0 when it worked.
#define AS_USER(uid, gid, call) live::as_user(uid, gid, [&] { return (call) < 0 ? errno : 0; })

inline int touch(const char* name, mode_t mode = 0644) {
    const int fd = ::open(name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);
    if (fd < 0) {
        return -1;
    }
    return ::close(fd);
}
inline int put(const char* name, const std::string& bytes) {
    const int fd = ::open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return -1;
    }
    const bool whole = ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    return ::close(fd) == 0 && whole ? 0 : -1;
}
inline std::string get(const char* name) {
    std::string bytes;
    const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
    char piece[65536];
    for (ssize_t got = 0; fd >= 0 && (got = ::read(fd, piece, sizeof piece)) > 0;) {
        bytes.append(piece, static_cast<std::size_t>(got));
    }
    if (fd >= 0) {
        ::close(fd);
    }
    return bytes;
}
inline struct stat attributes(const char* name) {
    struct stat a {};
    if (::lstat(name, &a) != 0) {
        a.st_nlink = 0;
        a.st_mode = 0;
    }
    return a;
}
inline bool exists(const char* name) {
    struct stat a {};
    return ::lstat(name, &a) == 0;
}

inline constexpr long page = 4096;

/// Closed at the end of the scope.
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

inline std::string pattern(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t at = 0; at < bytes; ++at) text[at] = static_cast<char>('a' + at * 7 % 26);
    return text;
}
inline int report(const char* program) {
    const Checks& all = checks();
    std::printf("%s: %d checks, %d failed, %d not offered here\n", program, all.made, all.failed, all.absent);
    return all.failed == 0 ? 0 : 1;
}

} // namespace live
