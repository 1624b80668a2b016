/// flashlab umount: ends a mount and waits for its daemon.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

namespace flashlab {

struct UmountOptions {
    std::string target;
    double timeout_s = 600; ///< for the daemon to write back, and for other holders to release the mount
};

[[nodiscard]] int run_umount(const UmountOptions& options);

} // namespace flashlab
