/// One writer an event log.
///
/// Idea       Ids are unique in a file because its writer counts them: a second writer would take the same ones, and the first would stop at the collision.
/// Invariant  As long as it lives no other process and no other log of this one writes the file. Readers are not kept out.
/// Cost       An open file.
/// Power cut  The host's kernel lets go of it with the process.
#pragma once

#include <expected>
#include <string>

namespace flashlab {

class LogLock {
public:
    /// Makes the file where there is none. `is_private`: readable by its owner only, and never through a symbolic link. The error says what to do.
    [[nodiscard]] static std::expected<LogLock, std::string> take(const std::string& path, bool is_private);
    LogLock(LogLock&& other) noexcept;
    LogLock& operator=(LogLock&&) = delete;
    ~LogLock();

private:
    explicit LogLock(int fd) : fd_{fd} {}
    int fd_;
};

} // namespace flashlab
