/// The directory a device is mounted on, and the host's side of FUSE: what is missing, said in sentences before libfuse says it in fragments.
///
/// Idea       Look before mounting; unmount by the right of whoever mounted.
/// Invariant  Nothing is changed when check_mount_point complains.
/// Cost       A few stat calls, once.
/// Power cut  Keeps nothing.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include "fs/fuse/lead_estimator.h"
#include "fs/fuse/mount.h"

namespace flashlab {

[[nodiscard]] std::expected<void, std::string> check_mount_point(const std::string& path);
[[nodiscard]] std::expected<void, std::string> check_host_fuse();
/// Options for fuse_session_new: ours first, the user's behind them, so that theirs win. nosuid and nodev unless root asks for suid, dev.
[[nodiscard]] std::vector<std::string> session_arguments(const MountConfig& config, bool is_root);
/// Takes the name out of the tree; open files keep working. False when nothing was mounted there.
bool detach(const std::string& path);
/// Writes back what the kernel holds of that mount.
void flush_kernel_pages(const std::string& path);
/// Lets the kernel read ahead so far on that mount; root only, and for nothing worse than slower sequential reads where it is refused.
void set_read_ahead(const std::string& path, std::size_t bytes);
/// How long the kernel and libfuse take to carry a request that needs no work, by asking this mount.
[[nodiscard]] RoundTrips measure_round_trips(const std::string& path);

} // namespace flashlab
