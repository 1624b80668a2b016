/// mount -o remount: what may change on a mount that lives.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <string>
#include <vector>

namespace flashlab {

[[nodiscard]] int run_remount(const std::string& mount_point, const std::vector<std::string>& options);

} // namespace flashlab
