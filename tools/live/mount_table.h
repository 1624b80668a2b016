/// The FlashLab mounts there are: those of this mount namespace, who serves them, and who else holds one.
///
/// Idea       The kernel's table names a mount's source as it was at the time of the mount. A folder may be moved, and a copy put in its place, so the mount
///            itself is asked (fs/fuse/mount_question.h) where its device lies. Only a mount whose connection the kernel has ended is dead.
/// Invariant  A question never blocks for longer than its patience: a child asks it.
/// Cost       One small file read; a fork and one request a question; who_else_has reads a file of every process.
/// Power cut  Keeps nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace flashlab {

struct MountEntry {
    std::string source; ///< device directory
    std::string mount_point;
    std::string device;  ///< major:minor, the same wherever it is mounted
    std::string options; ///< the file system's own, as the kernel shows them
};

/// answers: also with an error. dead: its daemon is gone. silent: within the patience. closed: it does not talk to this user.
enum class MountHealth : std::uint8_t { answers, dead, silent, closed };
struct MountAnswer {
    MountHealth health = MountHealth::silent;
    std::string directory; ///< of the device, where it lies now; empty: not told
};

/// Without touching the last component: stat on a dead mount would fail.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// In the order of the table: of two on one place the later one is on top.
[[nodiscard]] std::vector<MountEntry> flashlab_mounts();
[[nodiscard]] MountAnswer ask_where(const std::string& mount_point, std::chrono::milliseconds patience);

struct MountHolder {
    pid_t process = 0; ///< one that lives in that mount namespace; 0: this namespace
    std::string name;  ///< of the process
    std::string mount_point;
};
/// Who has this device mounted still, a mount namespace once. What this user may not look into is not seen.
[[nodiscard]] std::vector<MountHolder> who_else_has(const std::string& device);

} // namespace flashlab
