/// Finding a live mount and talking to it.
///
/// Idea       The mount's source in /proc/self/mountinfo is the device directory; its socket lies in it (or, where that path is too long, in the runtime directory).
/// Invariant  The images of a mounted device are never read behind the daemon's back.
/// Cost       One small file read, one connection a question.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "tools/json.h"

namespace flashlab {

/// Where the control socket of a device lies.
[[nodiscard]] std::string control_socket_path(const std::string& directory);

struct MountEntry {
    std::string source; ///< device directory
    std::string mount_point;
};
/// By mount point, or by device directory.
[[nodiscard]] std::optional<MountEntry> find_mount(const std::string& directory_or_mount_point);

/// Takes away a mount whose daemon was killed: that of this device, or one on this mount point. What was done, or empty. Nobody listens at its socket, and nobody
/// has the images locked: a daemon that is only busy keeps its mount.
[[nodiscard]] std::string detach_dead_mount(const std::string& directory_or_mount_point);

/// DIR for DIR or MNT.
[[nodiscard]] std::string device_directory_of(const std::string& directory_or_mount_point);

/// One question; the answer's "error" member becomes the error.
[[nodiscard]] std::expected<Json, std::string> ask_mount(const std::string& directory, const Json& request);

} // namespace flashlab
