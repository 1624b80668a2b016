/// The directory that a device is mounted on, and the host's side of FUSE. Problems are reported in whole sentences, before libfuse reports them.
///
/// Idea       Everything is checked before mounting. The user who mounted may also unmount.
/// Invariant  When check_mount_point reports a problem, nothing has been changed.
/// Cost       A few stat calls, once.
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
/// Options for fuse_session_new: ours first, then the user's, so that the user's win. nosuid and nodev are set unless root asks for suid or dev.
[[nodiscard]] std::vector<std::string> session_arguments(const MountConfig& config, bool is_root);
/// Detaches the mount from its mount point. Open files keep working. False when nothing was mounted there.
bool detach(const std::string& path);
/// Makes the kernel write back the dirty pages of that mount.
void flush_kernel_pages(const std::string& path);
/// Sets how far the kernel reads ahead on that mount. Only root may; if it is refused, sequential reads are slower, and nothing else happens.
void set_read_ahead(const std::string& path, std::size_t bytes);
/// Measures on this mount how long the kernel and libfuse take for a request that needs no work.
[[nodiscard]] RoundTrips measure_round_trips(const std::string& path);

} // namespace flashlab
