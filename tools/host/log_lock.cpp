#include "tools/host/log_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "tools/host/private_file.h"

namespace flashlab {

std::expected<LogLock, std::string> LogLock::take(const std::string& path, bool is_private) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | (is_private ? O_NOFOLLOW : 0), is_private ? 0600 : 0644);
    if (fd < 0 && errno == ELOOP && is_private) return std::unexpected(fmt::format("{}: is a symbolic link, which is not followed: remove it", path));
    if (fd < 0) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    LogLock lock{fd};
    if (is_private) give_to_owner_of_folder(fd, path); // SQLite's further files follow this one
    // The lock is one of flock(2). SQLite uses the other kind, fcntl(2): the kernel releases those as soon as the process closes any descriptor of
    // the file.
    // A file system may lack flock(2). The log is then written without the lock.
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return std::unexpected(fmt::format("{}: another flashlab writes this event log: wait until it has ended, or name another file", path));
    return lock;
}

LogLock::LogLock(LogLock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}

LogLock::~LogLock() {
    if (fd_ >= 0) ::close(fd_);
}

} // namespace flashlab
