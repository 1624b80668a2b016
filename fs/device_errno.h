/// The errno for an application whose request the device could not carry out.
#pragma once

#include <cerrno>

#include "base/host_io_error.h"
#include "fs/fs_types.h"
#include "ftl/block_device.h"

namespace flashlab {

/// A full host is ENOSPC. It makes the drive read-only; the mount sees to it that later writes get ENOSPC, too.
[[nodiscard]] inline FsError errno_of(const DeviceError& error) {
    if (is_host_full(error.host_errno)) return FsError{ENOSPC};
    switch (error.kind) {
    case DeviceErrorKind::no_space:
        return FsError{ENOSPC};
    case DeviceErrorKind::read_only:
        return FsError{EROFS};
    case DeviceErrorKind::uncorrectable:
    case DeviceErrorKind::out_of_range:
    case DeviceErrorKind::foreign:
    case DeviceErrorKind::host_io:
        break;
    }
    return FsError{EIO};
}

} // namespace flashlab
