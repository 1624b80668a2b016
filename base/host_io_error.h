/// A failure of the host (EIO, ENOSPC under an image), not of the simulated media: the device turns read-only until remount, nothing is retired.
#pragma once

namespace flashlab {

struct HostIoError {
    int error_number; ///< errno
};

} // namespace flashlab
