/// What the daemon keeps for each file handle of the kernel.
///
/// Idea       Each open allocates one object; fuse_file_info::fh carries its address until release. A mount that ends with files open (abort, power
///            cut) gets no release for them. So OpenHandles owns the objects whose addresses the kernel has, until the mount ends.
/// Invariant  The kernel sends no call with a handle before its open was answered nor after its release.
/// Cost       Two small allocations and an uncontended lock an open; none a call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "fs/file_system.h"
#include "fs/fuse/fuse_api.h"

namespace flashlab {

struct OpenHandle {
    WriteErrorMark errors;
    int flags = 0;                                    ///< of open(2); requests other than read and write do not carry them
    std::uint64_t close_began = FsCall{}.close_began; ///< of the last close(2) of one of its descriptors; inside the monitor only

    [[nodiscard]] static OpenHandle* of(const fuse_file_info* file) { return reinterpret_cast<OpenHandle*>(file->fh); }
};

class OpenHandles {
public:
    /// Gives the handle to the kernel, until take_back().
    void give(std::unique_ptr<OpenHandle> handle, fuse_file_info& file) {
        file.fh = reinterpret_cast<std::uintptr_t>(handle.get());
        const std::lock_guard held{lock_};
        given_.emplace(file.fh, std::move(handle));
    }
    void take_back(const fuse_file_info& file) {
        const std::lock_guard held{lock_};
        given_.erase(file.fh);
    }

private:
    std::mutex lock_; ///< answers leave outside the monitor
    std::unordered_map<std::uint64_t, std::unique_ptr<OpenHandle>> given_;
};

} // namespace flashlab
