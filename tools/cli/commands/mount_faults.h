/// The words of -o that make a mount fail: fault=, fault_plan=, fsync_failure=.
///
/// Cost       Reading the plan.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/live/mount_session.h"

namespace flashlab {

/// The error is a whole sentence.
[[nodiscard]] std::expected<void, std::string> apply_fault_option(const std::string& name, const std::string& value, MountSessionConfig& config);
/// The rules of a plan file.
[[nodiscard]] std::expected<std::vector<FaultRule>, std::string> read_fault_plan(const std::string& path);

} // namespace flashlab
