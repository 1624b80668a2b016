/// Copies of a device directory: snapshots kept inside it, clones beside it.
///
/// Idea       The images are locked against writers. nand.img is copied by reflink if the host's file system can do that, else extent by extent with
///            the holes left out. pram.img is always copied extent by extent: it is memory-mapped, so its copy needs disk space of its own. A device
///            that was cut or killed is copied as the cut left it, and the copy recovers as the original would.
/// Invariant  A copy appears whole under its name or not at all. A clone's images get an identity of their own, so that images of the clone and of
///            the original cannot be mixed. A snapshot keeps the original's identity. The event log is not copied.
/// Cost       What the device takes on disk; with reflink what pram.img takes.
/// Power cut  A kill in the middle leaves a directory ending in ".copying-PID", which may be removed.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace flashlab {

struct CopiedDevice {
    std::string directory;
    std::uint64_t file_bytes = 0;   ///< of the images, holes included
    std::uint64_t copied_bytes = 0; ///< bytes that were copied, not shared
    bool reflinked = false;         ///< nand.img shares disk space with the original
};

/// The directory that DIR, or DIR@NAME for a snapshot, stands for.
[[nodiscard]] std::string directory_of_device(const std::string& device);

/// A name may hold only characters that mean nothing else in a path or in DIR@NAME.
[[nodiscard]] std::expected<void, std::string> check_snapshot_name(const std::string& name);
[[nodiscard]] std::expected<CopiedDevice, std::string> take_snapshot(const std::string& directory, const std::string& name);
/// The names of the snapshots, in alphabetical order.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> list_snapshots(const std::string& directory);
[[nodiscard]] std::expected<void, std::string> delete_snapshot(const std::string& directory, const std::string& name);
/// `to` is new or an empty directory.
[[nodiscard]] std::expected<CopiedDevice, std::string> clone_device(const std::string& from, const std::string& to);

} // namespace flashlab
