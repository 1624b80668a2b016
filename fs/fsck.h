/// Checks all that the file system keeps for consistency, and compares it with the device.
///
/// Idea       One pass over all records in key order, then the sums: links, entries, bitmap, pending trims, the device's mapping.
/// Invariant  Changes nothing.
/// Cost       Linear; a bit a data page and an entry an inode of memory.
#pragma once

#include <map>
#include <vector>

#include "fs/file_system.h"
#include "fs/inode.h"
#include "fs/space_accounting.h"

namespace flashlab {

class Fsck {
public:
    Fsck(const MetadataStore& store, const SpaceAccounting& space, const BlockDevice& device);
    [[nodiscard]] std::vector<FsckProblem> run();

private:
    struct Seen {
        bool has_record = false;
        InodeRecord record;
        std::uint64_t names = 0;       ///< that lead here
        std::uint64_t entries = 0;     ///< names in it
        std::uint64_t directories = 0; ///< of these, directories
        std::uint64_t pages = 0;
        FilePage extents_end{0};
        std::uint64_t xattrs = 0;
        std::uint64_t named_in = 0; ///< directory of the last name
        bool orphan = false;
    };
    void take(const RecordKey& key, std::span<const std::byte> value);
    void take_dirent(const RecordKey& key, std::span<const std::byte> value);
    void take_extent(const RecordKey& key, std::span<const std::byte> value);
    void check_inode(std::uint64_t ino, const Seen& seen);
    void check_reachable();
    void check_pages();
    void check_device();
    void own(std::uint64_t first, std::uint64_t pages, std::uint64_t ino);
    void report(std::string kind, std::uint64_t ino, std::string detail);

    const MetadataStore& store_;
    const SpaceAccounting& space_;
    const BlockDevice& device_;
    std::map<std::uint64_t, Seen> inodes_;
    struct Name {
        std::uint64_t directory;
        std::uint64_t ino;
        std::uint32_t type;
    };
    std::vector<Name> names_;
    std::vector<bool> owned_;
    std::vector<FsckProblem> problems_;
};

} // namespace flashlab
