/// The lock that gives an event log a single writer.
///
/// Idea       The writer of a log counts the ids of its rows, which makes them unique in the file. A second writer would give out the same ids, and
///            the first writer would stop at the collision.
/// Invariant  As long as the lock lives, no other process writes the file, and no other log of this process. Readers are not kept out.
/// Cost       One open file.
/// Power cut  The host's kernel releases the lock when the process ends.
#pragma once

#include <expected>
#include <string>

namespace flashlab {

class LogLock {
public:
    /// Creates the file if it does not exist. `is_private`: only the owner may read the file, and a symbolic link is not followed.
    /// The error says what to do.
    [[nodiscard]] static std::expected<LogLock, std::string> take(const std::string& path, bool is_private);
    LogLock(LogLock&& other) noexcept;
    LogLock& operator=(LogLock&&) = delete;
    ~LogLock();

private:
    explicit LogLock(int fd) : fd_{fd} {}
    int fd_;
};

} // namespace flashlab
