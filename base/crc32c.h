/// CRC-32C (Castagnoli), as iSCSI, ext4 and Btrfs use it.
///
/// Idea       The CPU's instruction where there is one (SSE 4.2), on three parts of a long buffer at once, because the instruction takes three cycles
///            and one can begin in each. Elsewhere tables, eight bytes a step (crc32c_portable).
/// Invariant  Both give the same value for every input.
/// Cost       An OOB of 18 bytes: 9 ns; 4 KiB: 0.2 us with the instruction, 3 us with the tables.
/// Source     Kounavis, Berry, "A Systematic Approach to Building High Performance Software-Based CRC Generators", 2005, for the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace flashlab {

/// Its bits reversed, as the register's are: what the last bit of a message adds.
inline constexpr std::uint32_t crc32c_polynomial = 0x82f63b78;

/// `seed` continues an earlier checksum: crc32c(b, crc32c(a)) == crc32c(a + b).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);
/// The same without any special instruction.
[[nodiscard]] std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t seed = 0);

} // namespace flashlab
