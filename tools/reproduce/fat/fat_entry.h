/// A directory entry of 32 bytes.
///
/// Idea       Name, kind, time of the last write, first cluster and size lie beside each other, so that an append changes a few words of one sector.
/// Invariant  The first byte of the name is 0 in an entry that was never used, and 0xe5 in one that was removed.
/// Cost       A copy.
/// Power cut  An entry lies in one sector.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fs/fs_types.h"
#include "tools/reproduce/fat/fat_layout.h"

namespace flashlab {

struct FatEntry {
    static constexpr std::size_t encoded_size = 32;
    static constexpr std::size_t max_name = 14;
    static constexpr std::uint32_t in_sector = sector_bytes / encoded_size;
    static constexpr std::byte removed_mark{0xe5};

    std::string name;
    bool is_directory = false;
    FileTime modified;               ///< to the millisecond
    std::uint32_t first_cluster = 0; ///< 0: empty file
    std::uint32_t size = 0;

    using Bytes = std::span<std::byte, encoded_size>;
    void encode(Bytes out) const;
    [[nodiscard]] static FatEntry decode(std::span<const std::byte, encoded_size> in);
    [[nodiscard]] static bool is_in_use(std::span<const std::byte, encoded_size> in) { return in[0] != std::byte{0} && in[0] != removed_mark; }
    /// Errors: EINVAL, ENAMETOOLONG.
    [[nodiscard]] static FsResult<void> check_name(std::string_view name);
    /// The entry that begins at slot `index` of a sector.
    [[nodiscard]] static Bytes slot(std::span<std::byte, sector_bytes> sector, std::uint32_t index) {
        return Bytes{sector.data() + index * encoded_size, encoded_size};
    }
};

} // namespace flashlab
