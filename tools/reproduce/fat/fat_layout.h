/// Where everything lies in the FAT-like layout. fs/FORMAT.md draws it.
///
/// Idea       The order is: superblock, FAT, copy of the FAT, clusters of 2 KB. The first clusters hold directories and nothing else. So metadata are
///            all sectors below a certain number. Code that moves sectors can tell metadata from data without asking the file system. That lets the
///            same layout live on PRAM or on the drive.
/// Invariant  Every part begins at a multiple of 2 KB. A FAT entry is 4 bytes. Clusters are numbered from 2.
/// Cost       8 bytes of metadata a cluster, and a directory entry of 32 bytes for each 24 KiB.
/// Source     Kim et al. (HY) 3.1, 3.2 and 5.1 (fixed positions, 512-byte sectors, clusters of 2 KB); HY8.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "base/id.h"

namespace flashlab {

inline constexpr std::uint32_t fat_cluster_bytes = 2048;
inline constexpr std::uint32_t fat_cluster_sectors = fat_cluster_bytes / sector_bytes;
inline constexpr std::uint32_t fat_first_cluster = 2; ///< also the root directory's
inline constexpr std::uint32_t fat_free = 0;
inline constexpr std::uint32_t fat_end_of_chain = 0xffff'ffff;
inline constexpr std::uint32_t fat_entries_a_sector = sector_bytes / 4;
using SectorBytes = std::array<std::byte, sector_bytes>;

struct FatLayout {
    std::uint32_t clusters = 0;           ///< numbered from 2
    std::uint32_t directory_clusters = 0; ///< the first of them
    std::uint32_t fat_sectors = 0;        ///< sectors of one copy of the FAT

    /// `alignment`: file clusters begin at a multiple of this number of sectors, and directories get the space before. A formatter that knows erase
    /// blocks asks for such an alignment. The error says why a device is too small or too large.
    [[nodiscard]] static std::expected<FatLayout, std::string> make(std::uint64_t sectors, std::uint64_t alignment = fat_cluster_sectors);

    [[nodiscard]] std::uint32_t end_cluster() const { return fat_first_cluster + clusters; }
    [[nodiscard]] std::uint32_t first_file_cluster() const { return fat_first_cluster + directory_clusters; }
    /// The sector of entry 0: in the FAT itself (copy 0), or in its copy (copy 1).
    [[nodiscard]] std::uint64_t fat_sector(std::uint32_t copy) const { return fat_cluster_sectors + std::uint64_t{copy} * fat_sectors; }
    [[nodiscard]] std::uint64_t sector_of(std::uint32_t cluster) const {
        return fat_sector(2) + std::uint64_t{cluster - fat_first_cluster} * fat_cluster_sectors;
    }
    [[nodiscard]] std::uint64_t metadata_sectors() const { return sector_of(first_file_cluster()); }
    [[nodiscard]] std::uint64_t metadata_bytes() const { return metadata_sectors() * sector_bytes; }

    void encode(std::span<std::byte, sector_bytes> superblock) const;
    [[nodiscard]] static std::expected<FatLayout, std::string> decode(std::span<const std::byte, sector_bytes> superblock);
    friend bool operator==(const FatLayout&, const FatLayout&) = default;
};

} // namespace flashlab
