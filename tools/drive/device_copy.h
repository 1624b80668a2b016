/// Copies of a device directory: snapshots kept inside it, clones beside it.
///
/// Idea       The images are locked against writers. nand.img is copied by reflink where the host's file system can, else extent by extent with the holes
///            left out; pram.img, which is mapped and needs room of its own, always so.
///            A device that was cut or killed is copied as the cut left it: the copy recovers as the original would.
/// Invariant  A copy appears whole under its name or not at all. A clone's images carry an identity of their own, so that images of the two cannot
///            be mixed;
///            a snapshot keeps the original's. The event log stays with the original.
/// Cost       What the device has on disk; with reflink what pram.img has.
/// Power cut  A kill in the middle leaves a directory ending in ".copying-PID", which is nobody's.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace flashlab {

struct CopiedDevice {
    std::string directory;
    std::uint64_t file_bytes = 0;   ///< of the images, holes included
    std::uint64_t copied_bytes = 0; ///< really moved
    bool reflinked = false;         ///< nand.img shares the original's place
};

/// DIR, or DIR@NAME of a snapshot, as a directory.
[[nodiscard]] std::string directory_of_device(const std::string& device);

/// Letters that no path, and no DIR@NAME, takes apart.
[[nodiscard]] std::expected<void, std::string> check_snapshot_name(const std::string& name);
[[nodiscard]] std::expected<CopiedDevice, std::string> take_snapshot(const std::string& directory, const std::string& name);
/// Names in alphabetical order.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> list_snapshots(const std::string& directory);
[[nodiscard]] std::expected<void, std::string> delete_snapshot(const std::string& directory, const std::string& name);
/// `to` is new or an empty directory.
[[nodiscard]] std::expected<CopiedDevice, std::string> clone_device(const std::string& from, const std::string& to);

} // namespace flashlab
