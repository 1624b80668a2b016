/// The event log that a user means: a file, a drive's directory or a mount point.
///
/// Idea       A mount is first asked to write down what it still holds.
/// Cost       One look at the table of mounts, and an answer of the daemon.
#pragma once

#include <expected>
#include <string>

namespace flashlab {

/// That so much of what programs wrote is in no figure yet, and what writes it: nothing, where the drive takes no more writes.
[[nodiscard]] std::string not_on_flash(const std::string& command, std::uint64_t bytes, const std::string& mount_point, bool takes_writes);
/// The path of the log. `command` begins what is complained about.
[[nodiscard]] std::expected<std::string, std::string> find_log(const std::string& command, const std::string& target);

} // namespace flashlab
