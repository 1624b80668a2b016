/// Who still has files of a mount open.
///
/// Idea       /proc names each process's folder, program and open files; the device number of a mount tells which of them lie on it.
/// Invariant  Nothing is sent to the mount: it may be about to end. Processes that this user may not look at are left out.
/// Cost       A look at every open file of every process: for messages only.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace flashlab {

/// The device number of the mount that `path` lies on; 0 if it cannot be looked at.
[[nodiscard]] dev_t device_number_of(const std::string& path);
/// "12 (sleep)", by process number.
[[nodiscard]] std::vector<std::string> processes_with_files_on(dev_t device);

} // namespace flashlab
