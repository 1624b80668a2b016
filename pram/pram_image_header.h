/// The first 4 KiB of a PRAM image.
///
/// Idea       It holds everything needed to map the file, and a checksum in the last four bytes. FORMAT.md, "Image (pram.img)".
/// Invariant  decode(encode(h)) == h; any flipped bit is noticed. Magic, version and checksum keep their places in every version to come.
/// Cost       One page, read once.
/// Power cut  mkfs writes it once, after the space is allocated. It is never written again.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

namespace flashlab {

struct PramImageHeader {
    static constexpr std::size_t encoded_size = 4096;
    static constexpr std::uint32_t current_version = 3;
    static constexpr std::uint32_t first_version = 2; ///< that can be read: its wear counters have no checks

    std::array<std::byte, 16> uuid{}; ///< of the device, the same in nand.img
    std::uint64_t cell_bytes = 0;
    std::uint32_t word_bytes = 0;
    std::uint32_t version = current_version;

    [[nodiscard]] static constexpr std::uint64_t wear_offset() { return encoded_size; }
    [[nodiscard]] std::uint64_t cells_offset() const; ///< a multiple of 4096
    [[nodiscard]] std::uint64_t sums_offset() const;  ///< behind the cells: a CRC for each line
    [[nodiscard]] std::uint64_t state_offset() const; ///< the last 4096 bytes: change mark, generation, evidence
    /// Two copies in the state's page (pram_evidence.h).
    [[nodiscard]] std::uint64_t evidence_offset(bool second) const { return state_offset() + (second ? 2176 : 256); }
    [[nodiscard]] std::uint64_t file_bytes() const;

    [[nodiscard]] bool checks_wear() const { return version > first_version; }

    void encode(std::span<std::byte, encoded_size> out) const;
    /// The error says what is wrong with the bytes. The caller adds the path.
    [[nodiscard]] static std::expected<PramImageHeader, std::string> decode(std::span<const std::byte, encoded_size> in);
};

} // namespace flashlab
