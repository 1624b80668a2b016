/// A descriptor of the host that is closed on every way out of its scope.
///
/// Idea       Owns the number that open(2) gave; below 0 it owns nothing, and errno is the caller's to look at.
/// Invariant  Closed once, unless release() gave it away.
/// Cost       The close.
/// Power cut  Keeps nothing.
#pragma once

#include <utility>

#include <unistd.h>

namespace flashlab {

class FileDescriptor {
public:
    explicit FileDescriptor(int fd) : fd_{fd} {}
    ~FileDescriptor() { reset(-1); }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }
    /// Closes what it has, and takes another.
    void reset(int fd) {
        if (const int old = std::exchange(fd_, fd); old >= 0) ::close(old);
    }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

} // namespace flashlab
