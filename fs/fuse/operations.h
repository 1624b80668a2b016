/// The table of low-level operations, and what its handlers share.
///
/// Idea       A handler translates a request of the kernel into one FileSystem call in the monitor, and the result into the kernel's reply. Handlers
///            are grouped like the interface: names, attributes, data, directories, the whole.
/// Invariant  Every request is answered exactly once. A reference is counted for each entry that reached the kernel, and for no other.
/// Cost       See Service::serve.
#pragma once

#include <fcntl.h>

#include <sys/stat.h>

#include "fs/fuse/fuse_api.h"
#include "fs/fuse/io_ring.h"
#include "fs/fuse/page_dropper.h"
#include "fs/fuse/service.h"

namespace flashlab {

/// What handlers get through the session's user data.
struct SessionContext {
    Service& service;
    PageDropper& page_dropper;
    std::function<void()> on_ready;           ///< the kernel's INIT was answered
    std::function<void()> on_power_cut;       ///< the mount must end
    std::function<void()> on_shutdown;        ///< before such a cut: the mount stays until somebody unmounts it
    std::function<std::string()> device_path; ///< of the device's folder, where it lies now
    bool kernel_writeback = false;
    bool strict_access_times = false; ///< the kernel must not answer reads, listings and targets from what it was told before
    fuse_session* session = nullptr;  ///< for telling the kernel what changed; set before the first request
    IoRing ring = {};
};

[[nodiscard]] fuse_lowlevel_ops operation_table(const SessionContext& context);
inline constexpr unsigned largest_request = 1u << 20; ///< bytes; the kernel's own limit

void add_name_operations(fuse_lowlevel_ops& table);
void add_attribute_operations(fuse_lowlevel_ops& table);
void add_data_operations(fuse_lowlevel_ops& table, bool kernel_writeback);
void add_directory_operations(fuse_lowlevel_ops& table, bool strict_access_times);
void add_whole_operations(fuse_lowlevel_ops& table);

// --- shared by handlers -----------------------------------------------------------------------------------------------------------------

/// How long the kernel may cache names and attributes: a day. Every change passes through the kernel, so that its caches stay true.
inline constexpr double cache_seconds = 86400.0;

/// Every handler begins with it.
[[nodiscard]] inline SessionContext& context_of(fuse_req_t request) {
    auto& context = *static_cast<SessionContext*>(fuse_req_userdata(request));
    context.ring.note(request);
    return context;
}
[[nodiscard]] inline Service& service_of(fuse_req_t request) { return context_of(request).service; }
[[nodiscard]] inline OpenMode open_mode_of(int flags) { return {.writes = (flags & O_ACCMODE) != O_RDONLY, .appends = (flags & O_APPEND) != 0}; }
[[nodiscard]] struct stat stat_of(const Attributes& attributes);
[[nodiscard]] fuse_entry_param entry_of(const Attributes& attributes);
/// Sends the entry. Gives the reference back when the kernel no longer wants the entry.
void reply_entry(fuse_req_t request, const Attributes& attributes);
/// Notes what later calls of this open need to know. Must be called inside the monitor, together with open_file.
void note_opened(Service& service, const FsCall& call, Ino ino, int flags, OpenHandle& handle);
/// Gives back references that no reply carried to the kernel.
void take_back(Service& service, Ino ino, std::uint64_t references);

} // namespace flashlab
