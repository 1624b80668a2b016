/// A failure of the host (EIO, ENOSPC under an image), not of the simulated media. The device turns read-only until the next mount;
/// no block is retired.
#pragma once

#include <cerrno>
#include <string_view>

namespace flashlab {

struct HostIoError {
    int error_number; ///< errno
};

/// No room on the host's disk, or in the user's share of it.
[[nodiscard]] constexpr bool is_host_full(int error_number) { return error_number == ENOSPC || error_number == EDQUOT; }

/// What helps against it, to end a message with; nothing where that is not known.
[[nodiscard]] constexpr std::string_view host_remedy(int error_number) {
    if (is_host_full(error_number)) return "; make room on the host's disk and try again";
    return error_number == EROFS ? "; a drive on a read-only disk can be looked at: mount -o ro, fsck -n" : "";
}

} // namespace flashlab
