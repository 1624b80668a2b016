/// The FlashLab mounts of this mount namespace, who serves them, and who else holds one.
///
/// Idea       The kernel's table names the source of a mount as it was when it was mounted. Since then the folder may have been moved and a copy put
///            in its place. So the mount itself is asked where its device lies (fs/fuse/mount_question.h). A mount is dead only if the kernel has
///            ended its connection.
/// Invariant  A question never blocks for longer than its patience, because a child process asks it.
/// Cost       One small file read; a fork and one request for each question. who_else_has() reads a file of every process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace flashlab {

struct MountEntry {
    std::string source; ///< device directory
    std::string listed; ///< the same as the kernel's tables name it
    std::string mount_point;
    std::string device;  ///< major:minor, the same in every place where the device is mounted
    std::string options; ///< the options of the file system itself, as the kernel shows them
};

/// answers: an answer came, perhaps an error. dead: the daemon is gone. silent: no answer came in time. closed: it does not talk to this user.
enum class MountHealth : std::uint8_t { answers, dead, silent, closed };
struct MountAnswer {
    MountHealth health = MountHealth::silent;
    std::string directory; ///< where the device directory lies now; empty: the mount did not tell
};

/// The absolute path. The last component is not looked at, because stat on a dead mount would fail.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// The mounts in the order of the kernel's table. Of two mounts in one place the later one is on top.
[[nodiscard]] std::vector<MountEntry> flashlab_mounts();
[[nodiscard]] MountAnswer ask_where(const std::string& mount_point, std::chrono::milliseconds patience);

struct MountHolder {
    pid_t process = 0; ///< a process of that mount namespace; 0: this namespace
    std::string name;  ///< name of the process
    std::string mount_point;
};
/// Who still has this device mounted, one entry for each mount namespace. Processes that this user may not look into are not seen. The kernel
/// gives the number of a device that is gone to the next mount: `listed` is the source that its tables name, and tells the two apart.
[[nodiscard]] std::vector<MountHolder> who_else_has(const std::string& device, const std::string& listed);

} // namespace flashlab
