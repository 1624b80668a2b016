/// What the application is told when the device cannot.
#pragma once

#include <cerrno>

#include "fs/fs_types.h"
#include "ftl/block_device.h"

namespace flashlab {

/// A full host is the application's ENOSPC; that it is so also later, when the drive is read-only because of it, is the mount's to tell.
[[nodiscard]] inline FsError errno_of(const DeviceError& error) {
    if (error.host_errno == ENOSPC || error.host_errno == EDQUOT) return FsError{ENOSPC};
    switch (error.kind) {
    case DeviceErrorKind::no_space: return FsError{ENOSPC};
    case DeviceErrorKind::read_only: return FsError{EROFS};
    case DeviceErrorKind::uncorrectable:
    case DeviceErrorKind::out_of_range:
    case DeviceErrorKind::foreign:
    case DeviceErrorKind::host_io: break;
    }
    return FsError{EIO};
}

} // namespace flashlab
