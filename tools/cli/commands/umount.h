/// flashlab umount: ends a mount and waits for its daemon.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <string>

namespace flashlab {

struct UmountOptions {
    std::string target;
    double timeout_s = 600; ///< for the daemon to write back, and for others to let go of the mount
};

[[nodiscard]] int run_umount(const UmountOptions& options);

} // namespace flashlab
