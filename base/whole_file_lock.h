/// The lock that keeps two programs off one file.
///
/// Idea       A lock of the open file (F_OFD_SETLK), over all of it whatever its length. One of the process would go when any descriptor of the file
///            is closed.
/// Invariant  Many share a file, or one has it.
/// Cost       One system call.
/// Power cut  The lock ends with the descriptor.
#pragma once

#include <cerrno>
#include <cstdint>

namespace flashlab {

enum class WholeFileLock : std::uint8_t { shared, exclusive };

/// Does not wait. Returns 0, or errno; is_held_elsewhere() tells who stands in the way.
[[nodiscard]] int lock_whole_file(int fd, WholeFileLock lock);
[[nodiscard]] constexpr bool is_held_elsewhere(int error) { return error == EAGAIN || error == EACCES; }

} // namespace flashlab
