/// Who uses the drive for what: the calls of programs, the names of files, and the sectors that data of a file go to.
///
/// Idea       The file system (FsOptions::use) and the mount (MountConfig::use) are given the one observer that a drive has, or none.
/// Invariant  It learns of data before they are written, and of a name before data of its file.
/// Cost       One compare a call where there is none.
/// Threading  Called inside the monitor. It must not call back.
/// Power cut  Belongs to the observer, not to the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/events.h"
#include "fs/page_number.h"

namespace flashlab {

/// Of one file, since the mount.
struct FileUse {
    std::uint64_t write_bytes = 0;      ///< that programs wrote
    std::uint64_t host_write_bytes = 0; ///< sent to the drive
    std::uint64_t nand_write_bytes = 0; ///< programmed on flash, copies included
};

class UseObserver {
public:
    virtual ~UseObserver() = default;
    /// A call of a program. `thread`: as the host numbers it; 0: the kernel itself.
    virtual void call_began(std::int32_t thread, FsOp op, Ino ino, std::uint64_t offset, std::uint64_t bytes) = 0;
    /// `bytes`: that were read or written, where the call did that.
    virtual void call_ended(std::int32_t thread, FsOp op, Ino ino, std::uint64_t bytes, int error, Duration took) = 0;
    /// The inode is found under this name, or was given it. An inode number that is used again comes with another generation.
    virtual void named(Ino ino, std::uint64_t generation, Ino parent, std::string_view name) = 0;
    /// `sectors` sectors from `first` on are about to be written with data of the file from its page `page` on.
    virtual void data_written(Ino ino, FilePage page, Sector first, std::uint32_t sectors) = 0;
    /// What is known of a file by now.
    [[nodiscard]] virtual std::optional<FileUse> use_of(Ino ino) const = 0;
};

} // namespace flashlab
