/// The files of a drive that is not mounted, without FUSE: read only.
///
/// Idea       The drive is opened to be looked at, as by `info`: recovery runs on private copies, so a drive whose power was cut can be read, too.
/// Invariant  Nothing of the drive changes, not even times of access. A name in a damaged drive cannot lead out of the folder that is copied to:
///            names with a slash, "." and ".." are refused. Nothing that is there is replaced.
/// Cost       Recovery at the start, as a mount; then as reads of a mount.
/// Power cut  Nothing is written to the drive.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/drive/device_directory.h"

namespace flashlab {

/// DIR[:PATH] divided. DIR is the longest beginning that ends before a colon, or at the end, and is a directory on the host.
struct DrivePath {
    std::string directory, path;
};
[[nodiscard]] DrivePath parse_drive_path(const std::string& text);

struct DriveEntry {
    std::string name;
    Attributes attributes;
    std::string target; ///< of a symbolic link
};

class DriveFiles {
public:
    [[nodiscard]] static std::expected<DriveFiles, std::string> open(const std::string& directory, std::function<void(const std::string&)> complain);
    /// Follows no symbolic link: there is no process whose root it would be relative to.
    [[nodiscard]] std::expected<DriveEntry, std::string> find(const std::string& path);
    /// Sorted by name, without "." and "..".
    [[nodiscard]] std::expected<std::vector<DriveEntry>, std::string> list(const DriveEntry& folder, const std::string& path);
    /// Calls `take` with the content in order. With `skip`, holes are passed to it by their length instead.
    using Take = std::function<std::expected<void, std::string>(std::span<const std::byte>)>;
    using Skip = std::function<std::expected<void, std::string>(std::uint64_t)>;
    [[nodiscard]] std::expected<void, std::string> read(const DriveEntry& file, const std::string& path, const Take& take, const Skip& skip = {});

private:
    explicit DriveFiles(std::unique_ptr<DeviceDirectory> drive) : drive_{std::move(drive)} {}
    [[nodiscard]] FileSystem& fs() { return drive_->device().fs(); }
    [[nodiscard]] std::expected<DriveEntry, std::string> entry_of(Ino folder, const std::string& name);
    std::unique_ptr<DeviceDirectory> drive_;
    SimTime now_ = sim_start;
};

/// Copies to a place on the host: modes, times, symbolic links, holes. Owners stay those of the caller. Devices, pipes and sockets are left out, and
/// `complain` says so. Returns the number of files and folders made.
[[nodiscard]] std::expected<std::uint64_t, std::string> copy_out(DriveFiles& drive, const DriveEntry& entry, const std::string& path,
                                                                 const std::string& to, const std::function<void(const std::string&)>& complain);

} // namespace flashlab
