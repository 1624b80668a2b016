#include "tools/reproduce/fat/fat_layout.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {
namespace {

constexpr std::uint64_t magic = 0x0a31'5441'464b'4c46; ///< "FLKFAT1\n" as bytes
constexpr std::size_t crc_at = 20;
/// A directory entry of 32 bytes for so many bytes of the device. Free: the paper gives the size of all metadata, 5.47 MB of 1 GB, and no more.
constexpr std::uint64_t bytes_an_entry = 24u << 10;
constexpr std::uint32_t fewest_directory_clusters = 8;
constexpr std::uint64_t most_clusters = 0x0fff'ffff;

std::uint64_t fat_sectors_for(std::uint64_t clusters) {
    const std::uint64_t sectors = (clusters + fat_first_cluster + fat_entries_a_sector - 1) / fat_entries_a_sector;
    return (sectors + fat_cluster_sectors - 1) / fat_cluster_sectors * fat_cluster_sectors;
}

} // namespace

std::expected<FatLayout, std::string> FatLayout::make(std::uint64_t sectors, std::uint64_t alignment) {
    if (sectors / fat_cluster_sectors > most_clusters)
        return std::unexpected("the FAT-like layout numbers 2^28 clusters of 2 KB: the device is larger than that");
    const std::uint64_t parts = sectors / fat_cluster_sectors;
    const std::uint64_t fat_sectors = fat_sectors_for(parts);
    const std::uint64_t beside = 1 + 2 * fat_sectors / fat_cluster_sectors;
    if (parts < beside + 2 * fewest_directory_clusters) return std::unexpected("the device is too small for a FAT, its copy and directories");
    FatLayout layout;
    layout.clusters = static_cast<std::uint32_t>(parts - beside);
    layout.fat_sectors = static_cast<std::uint32_t>(fat_sectors);
    layout.directory_clusters = std::max(fewest_directory_clusters, static_cast<std::uint32_t>(layout.clusters * std::uint64_t{32} / bytes_an_entry));
    const std::uint64_t beyond = layout.metadata_sectors() % alignment;
    if (beyond != 0) layout.directory_clusters += static_cast<std::uint32_t>((alignment - beyond) / fat_cluster_sectors);
    if (layout.directory_clusters >= layout.clusters) return std::unexpected("the device is too small for a FAT, its copy and directories");
    return layout;
}

void FatLayout::encode(std::span<std::byte, sector_bytes> superblock) const {
    LittleEndianWriter out{superblock};
    out.u64(magic);
    out.u32(clusters);
    out.u32(directory_clusters);
    out.u32(fat_sectors);
    out.u32(crc32c(superblock.first(crc_at)));
    out.zeros(sector_bytes - crc_at - 4);
}

std::expected<FatLayout, std::string> FatLayout::decode(std::span<const std::byte, sector_bytes> superblock) {
    if (load_le<std::uint64_t>(superblock) != magic) return std::unexpected("there is no FAT-like file system");
    if (load_le<std::uint32_t>(superblock.subspan(crc_at)) != crc32c(superblock.first(crc_at))) return std::unexpected("the superblock is damaged");
    const FatLayout layout{.clusters = load_le<std::uint32_t>(superblock.subspan(8)),
                           .directory_clusters = load_le<std::uint32_t>(superblock.subspan(12)),
                           .fat_sectors = load_le<std::uint32_t>(superblock.subspan(16))};
    if (layout.directory_clusters == 0 || layout.directory_clusters >= layout.clusters || layout.fat_sectors < fat_sectors_for(layout.clusters))
        return std::unexpected("the superblock contradicts itself");
    return layout;
}

} // namespace flashlab
