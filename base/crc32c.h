/// CRC-32C (Castagnoli), as iSCSI, ext4 and Btrfs use it. Implementation: ISA-L, which uses the CPU's instruction where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace flashlab {

/// `seed` continues an earlier checksum: crc32c(b, crc32c(a)) == crc32c(a + b).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

} // namespace flashlab
