/// What a file handle of the kernel's leads to.
///
/// Idea       One allocation an open; fuse_file_info::fh carries its address until release.
/// Invariant  The kernel sends no call with a handle before its open was answered nor after its release.
/// Cost       A small allocation an open.
/// Power cut  Keeps nothing.
#pragma once

#include <memory>

#include "fs/file_system.h"
#include "fs/fuse/fuse_api.h"

namespace flashlab {

struct OpenHandle {
    WriteErrorMark errors;

    [[nodiscard]] static OpenHandle* of(const fuse_file_info* file) { return reinterpret_cast<OpenHandle*>(file->fh); }
    /// From now on the kernel's, until release.
    static void give(std::unique_ptr<OpenHandle> handle, fuse_file_info& file) { file.fh = reinterpret_cast<std::uintptr_t>(handle.release()); }
    static void take_back(const fuse_file_info& file) { delete reinterpret_cast<OpenHandle*>(file.fh); }
};

} // namespace flashlab
