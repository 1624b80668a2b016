/// Finding a live mount and talking to it.
///
/// Idea       A mount tells where its device directory lies; its socket lies in it (or, where that path is too long, in the runtime directory).
/// Invariant  The images of a mounted device are never read behind the daemon's back. A mount that answers, or may, is never taken for dead.
/// Cost       One small file read and a question to the mount found; one connection a question.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "tools/drive/device_directory.h"
#include "tools/live/mount_table.h"
#include "tools/text/json.h"

namespace flashlab {

/// Where the control socket of a device lies.
[[nodiscard]] std::string control_socket_path(const std::string& directory);

/// By mount point, or by device directory. A copy that lies where the device of a mount lay when it was mounted is not that device.
[[nodiscard]] std::optional<MountEntry> find_mount(const std::string& directory_or_mount_point);

/// Takes away a mount whose daemon was killed: that of this device, or one on this mount point. What was done, or empty. The kernel says that its connection has
/// ended, and nobody has the images locked: a daemon that is only busy, or whose folder was moved, keeps its mount.
[[nodiscard]] std::string detach_dead_mount(const std::string& directory_or_mount_point);

/// Waits, 10 s at most, until nobody has the images locked against `access`: a daemon writes back after umount(8) has returned. The error says who has them.
/// `say`: called when it takes longer than a moment.
[[nodiscard]] std::expected<void, std::string> wait_for_images(const std::string& directory, DeviceAccess access, const std::function<void(const std::string&)>& say);
/// A daemon answers at its socket.
[[nodiscard]] bool is_served(const std::string& directory);

/// DIR for DIR or MNT.
[[nodiscard]] std::string device_directory_of(const std::string& directory_or_mount_point);

/// One question; the answer's "error" member becomes the error, and so does silence for longer than `patience` where one is given.
[[nodiscard]] std::expected<Json, std::string> ask_mount(const std::string& directory, const Json& request,
                                                         std::optional<std::chrono::milliseconds> patience = std::nullopt);

} // namespace flashlab
