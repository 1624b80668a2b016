/// What the kernel's mount table says of our own mount: remounts are seen nowhere else.
///
/// Idea       Poll reports a descriptor of /proc/self/mountinfo when mounts of this mount namespace have changed. The line with our device number
///            then says how ours is mounted.
/// Invariant  No request is sent to the mount.
/// Cost       One small file read for each change of the table.
#pragma once

#include <optional>
#include <string>

#include "fs/fs_types.h"

namespace flashlab {

struct TableEntry {
    bool read_only = false; ///< the whole mount, not just one place of it
    AccessTimes access_times = AccessTimes::relative;
};

/// What a line of mountinfo says, if it is of the device `number` (major:minor).
[[nodiscard]] std::optional<TableEntry> entry_in_table(const std::string& line, const std::string& number);

class MountTableWatch {
public:
    MountTableWatch() = default;
    ~MountTableWatch();
    MountTableWatch(const MountTableWatch&) = delete;
    MountTableWatch& operator=(const MountTableWatch&) = delete;

    void begin(const std::string& mount_point);
    [[nodiscard]] int descriptor() const { return table_; } ///< for poll with POLLPRI; -1: nothing can be seen
    [[nodiscard]] std::optional<TableEntry> look() const;   ///< nullopt: not in the table of this namespace

private:
    int table_ = -1;
    std::string number_;
};

} // namespace flashlab
