/// A failure of the host (EIO, ENOSPC under an image), not of the simulated media. The device turns read-only until the next mount;
/// no block is retired.
#pragma once

namespace flashlab {

struct HostIoError {
    int error_number; ///< errno
};

} // namespace flashlab
