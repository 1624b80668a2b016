/// mount -o remount: changes what can be changed on a live mount.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>
#include <vector>

namespace flashlab {

[[nodiscard]] int run_remount(const std::string& mount_point, const std::vector<std::string>& options);

} // namespace flashlab
