/// What the application is told when the device cannot.
#pragma once

#include "fs/fs_types.h"
#include "ftl/block_device.h"

namespace flashlab {

[[nodiscard]] inline FsError errno_of(const DeviceError& error) {
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
