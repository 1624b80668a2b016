/// A small file system in the FAT-like layout: the baseline of the hybrid paper's experiments. Its metadata lie on the drive or on PRAM.
///
/// Idea       Each call does all its work at once and in order: data, then FAT, then the directory entry. It begins at `call.now` and says when it
///            ended. So a caller can drive the volume in virtual time, one call after the other.
/// Invariant  V1 a chain has as many clusters as its file's size needs, no cluster is in two chains, and every cluster in use is in a chain. V2
///            directories lie in the first part of the clusters, files in the rest. V3 after sync() the FAT and its copy are equal. V4 with
///            deletes_pages no free cluster that once belonged to a file is mapped in the translation layer (HY6). check() verifies V1 to V3.
/// Cost       A write(): its clusters, the FAT sectors in which they were linked, and the sector of its entry.
/// Power cut  No atomicity is promised: there may be lost clusters, an older size, and stale bytes at the end of a file that was growing. check()
///            reports them; nothing repairs them.
/// Source     Kim et al. (HY) 3, 4.1 and 5.1; HY6, HY8.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/reproduce/fat/cluster_cache.h"
#include "tools/reproduce/fat/fat_entry.h"
#include "tools/reproduce/fat/fat_table.h"

namespace flashlab {

struct FatOptions {
    std::uint32_t cached_sectors = 16;  ///< sectors of metadata in RAM
    std::uint64_t data_cache_bytes = 0; ///< 0: a write is on the device when it is answered
    bool deletes_pages = true;          ///< the clusters of a removed file are trimmed (logical-page-delete)
};

/// A directory, by its first cluster.
struct FatDirectory {
    std::uint32_t first_cluster = fat_first_cluster; ///< the root
};

/// An open file: where its entry lies, what it says, and where the last access ended. Not to be used after the file was removed.
struct FatFile {
    FatEntry entry;
    std::uint64_t sector = 0; ///< of the entry
    std::uint32_t slot = 0;
    std::uint32_t last_cluster = 0; ///< the end of the chain, once known
    std::uint32_t at_index = 0;     ///< the cluster `at_cluster` is the at_index-th of the file; 0: unknown
    std::uint32_t at_cluster = 0;
    [[nodiscard]] FatDirectory as_directory() const { return {entry.first_cluster}; }
};

class FatVolume {
public:
    /// Writes an empty root into a place that is all zero.
    [[nodiscard]] static FsResult<SimTime> format(const FatLayout& layout, MetadataSectors& place, SimTime now);
    /// The error says what is wrong. `place` and `device` must outlive the volume.
    [[nodiscard]] static std::expected<std::unique_ptr<FatVolume>, std::string> open(MetadataSectors& place, BlockDevice& device,
                                                                                     const FatOptions& options, SimTime now);

    // --- names: a directory and a name, no paths ------------------------------------------------------------------------------
    /// Error: ENOENT.
    [[nodiscard]] FsResult<FatFile> lookup(const FsCall& call, FatDirectory in, std::string_view name);
    /// Errors: EEXIST, ENOSPC.
    [[nodiscard]] FsResult<FatFile> create(const FsCall& call, FatDirectory in, std::string_view name);
    [[nodiscard]] FsResult<FatFile> make_directory(const FsCall& call, FatDirectory in, std::string_view name);
    /// Removes a file or an empty directory.
    [[nodiscard]] FsResult<void> remove(const FsCall& call, FatDirectory in, std::string_view name);
    [[nodiscard]] FsResult<std::vector<FatEntry>> list(const FsCall& call, FatDirectory in);

    // --- data. `from` and `to` may be empty: then only time passes --------------------------------------------------------------
    /// Returns how many bytes were read.
    [[nodiscard]] FsResult<std::uint32_t> read(const FsCall& call, FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to);
    /// Errors: ENOSPC, before anything changed; EFBIG at 4 GiB. A gap behind the old end is filled with zeros.
    [[nodiscard]] FsResult<void> write(const FsCall& call, FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<const std::byte> from);
    /// Makes all data and metadata of the volume durable, and brings the copy of the FAT up to date.
    [[nodiscard]] FsResult<void> sync(const FsCall& call);

    /// When the last call ended.
    [[nodiscard]] SimTime now() const { return clock_; }
    [[nodiscard]] const FatLayout& layout() const { return layout_; }
    [[nodiscard]] std::uint64_t bytes_free() const { return std::uint64_t{table_.free_clusters(FatTable::Part::files)} * fat_cluster_bytes; }
    /// Checks all metadata. An empty result means that the volume is sound.
    [[nodiscard]] FsResult<std::vector<CheckProblem>> check(const FsCall& call);

private:
    FatVolume(const FatLayout& layout, MetadataSectors& place, BlockDevice& device, const FatOptions& options, SimTime now);
    struct Found {
        bool exists = false;
        FatFile file;
        bool has_free_slot = false; ///< the first one passed on the way
        std::uint64_t free_sector = 0;
        std::uint32_t free_slot = 0;
        std::uint32_t last_cluster = 0; ///< the directory's last cluster, if the directory was read to its end
    };
    struct Walk;

    void begin(const FsCall& call) { clock_ = std::max(clock_, call.now); }
    // --- fat_volume.cpp
    using EntryVisitor = std::function<bool(std::uint64_t sector, std::uint32_t slot, FatEntry::Bytes)>; ///< false: stop the visit
    [[nodiscard]] FsResult<std::uint32_t> visit_slots(FatDirectory in, const EntryVisitor& visit);
    [[nodiscard]] FsResult<Found> find(FatDirectory in, std::string_view name);
    [[nodiscard]] FsResult<FatFile> add(const FsCall& call, FatDirectory in, std::string_view name, bool is_directory);
    [[nodiscard]] FsResult<void> grow_directory(Found& found);
    [[nodiscard]] FsResult<std::uint32_t> new_directory_cluster(std::uint32_t last);
    [[nodiscard]] FsResult<bool> is_empty(FatDirectory directory);
    [[nodiscard]] FsResult<void> put_entry(const FatFile& file);
    [[nodiscard]] FsResult<void> release_clusters(const FatEntry& entry);
    // --- fat_volume_data.cpp
    [[nodiscard]] FsResult<std::uint32_t> cluster_at(FatFile& file, std::uint32_t index);
    [[nodiscard]] FsResult<void> extend_chain(FatFile& file, std::uint32_t clusters);
    [[nodiscard]] FsResult<void> put_range(FatFile& file, std::uint32_t offset, std::uint32_t bytes, std::span<const std::byte> from);
    [[nodiscard]] FsResult<void> put_part(FatFile& file, std::uint32_t cluster, std::uint32_t offset, std::uint32_t bytes,
                                          std::span<const std::byte> from);
    [[nodiscard]] FsResult<void> put_zeros(FatFile& file, std::uint32_t from, std::uint32_t to, bool with_payload);
    [[nodiscard]] FsResult<void> read_run(std::uint32_t first, std::uint32_t clusters, bool with_payload);
    // --- fat_volume_check.cpp
    [[nodiscard]] FsResult<void> walk_directory(Walk& walk, FatDirectory directory, const std::string& path);
    [[nodiscard]] FsResult<void> walk_chain(Walk& walk, const FatEntry& entry, const std::string& path);
    [[nodiscard]] FsResult<void> compare_copies(Walk& walk);

    FatLayout layout_;
    BlockDevice& device_;
    FatOptions options_;
    SectorCache sectors_;
    FatTable table_;
    ClusterCache data_;
    SimTime clock_;
    std::vector<std::byte> staging_; ///< buffer of reads
    std::vector<std::byte> zeros_;
};

} // namespace flashlab
