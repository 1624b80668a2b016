/// Finding a live mount and talking to it.
///
/// Idea       A mount tells where its device directory lies. Its control socket lies in that directory, or in the runtime directory if the path of
///            the device directory is too long for a socket, or its disk is read-only. A device may be mounted read-only in several places: each
///            further mount has a socket named after its mount point.
/// Invariant  The images of a mounted device are never read while the daemon uses them. A mount that answers, or that may still answer, is never
///            treated as dead.
/// Cost       Finding a mount: one small file read, and a question to the mount found. Talking to it: one connection for each question.
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

/// Where the control socket of a device lies; with a mount point: that of a further read-only mount.
[[nodiscard]] std::string control_socket_path(const std::string& directory, const std::string& mount_point = {});

/// Finds a mount by its mount point or by its device directory. The device directory of a mount may have been moved, and a copy put in its old place:
/// that copy is not the mounted device.
[[nodiscard]] std::optional<MountEntry> find_mount(const std::string& directory_or_mount_point);

/// Detaches a mount whose daemon was killed: the mount of this device, or a mount on this mount point. Returns what was done, or an empty text.
/// It detaches only if the kernel says that the connection to the daemon has ended, and nobody has the images locked. So a daemon that is only busy,
/// or whose folder was moved, keeps its mount.
[[nodiscard]] std::string detach_dead_mount(const std::string& directory_or_mount_point);

/// Waits until nobody holds a lock on the images that excludes `access`, 10 s at most. A daemon may still write back after umount(8) has returned.
/// The error says who holds the lock. `say` is called when the wait takes longer than a moment.
[[nodiscard]] std::expected<void, std::string> wait_for_images(const std::string& directory, DeviceAccess access,
                                                               const std::function<void(const std::string&)>& say);
/// The same for a command that wants the drive unmounted: of a mount that is there it says so at once. A wait is told on stderr.
[[nodiscard]] std::expected<void, std::string> wait_for_unmounted(const std::string& directory, DeviceAccess access);
/// Whether a daemon answers at the device's socket.
[[nodiscard]] bool is_served(const std::string& directory);
/// The socket of a mount that is there, and whether a daemon answers at it: to be asked before the unmounting, and after.
[[nodiscard]] std::string control_socket_of(const MountEntry& mount);
[[nodiscard]] bool is_listening(const std::string& socket);

/// The device directory DIR, given DIR itself or a mount point MNT.
[[nodiscard]] std::string device_directory_of(const std::string& directory_or_mount_point);

/// Asks one question. The answer's "error" member becomes the error. No answer within `patience` is an error, too. Without one it is half a
/// minute for questions that the daemon answers as it is, and ten minutes for those that make it work.
[[nodiscard]] std::expected<Json, std::string> ask_mount(const std::string& directory, const Json& request,
                                                         std::optional<std::chrono::milliseconds> patience = std::nullopt);
/// The same of this mount, and of no other of the device.
[[nodiscard]] std::expected<Json, std::string> ask_mount(const MountEntry& mount, const Json& request,
                                                         std::optional<std::chrono::milliseconds> patience = std::nullopt);

} // namespace flashlab
