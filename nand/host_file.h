/// pread and pwrite of a whole span.
///
/// Idea       The host may do less than it was asked for, or be interrupted: it is asked again for the rest.
/// Invariant  After success every byte was read or written.
/// Cost       One system call, as a rule.
/// Power cut  A kill leaves a prefix of the bytes, in pages of the host.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include <unistd.h>

#include "base/host_io_error.h"

namespace flashlab {

[[nodiscard]] inline std::expected<void, HostIoError> read_all(int fd, std::uint64_t at, std::span<std::byte> to) {
    while (!to.empty()) {
        const ssize_t n = ::pread(fd, to.data(), to.size(), static_cast<off_t>(at));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::unexpected(HostIoError{errno});
        if (n == 0) return std::unexpected(HostIoError{EIO}); // someone shortened the file under us
        to = to.subspan(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
    return {};
}

[[nodiscard]] inline std::expected<void, HostIoError> write_all(int fd, std::uint64_t at, std::span<const std::byte> from) {
    while (!from.empty()) {
        const ssize_t n = ::pwrite(fd, from.data(), from.size(), static_cast<off_t>(at));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::unexpected(HostIoError{errno});
        if (n == 0) return std::unexpected(HostIoError{ENOSPC});
        from = from.subspan(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
    return {};
}

} // namespace flashlab
