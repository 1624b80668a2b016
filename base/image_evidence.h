/// What a part of an image was when it was last vouched for. It tells a part that comes from an older copy.
///
/// Idea       A digest for each block of nand.img (nand/nand_evidence.h) and each part of pram.img (pram/pram_evidence.h). A root over all of them
///            lies in the generation of both images (base/image_generation.h), and so says of which time the digests are.
///            After a clean end they are exact. After a kill they are a lower bound: counts only grow.
/// Invariant  decode(encode(e)) == e; an entry of zeros is that of a part that was never written.
/// Cost       16 bytes a block or part, and each image keeps two copies.
/// Power cut  The copy that counts is never written to: the other one is, before the generation names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace flashlab {

/// Of a block: erase count; pages up to the last written one, with the bad mark in the highest bit; CRC of the records of these pages.
/// Of a part of the PRAM: words written, low and high half; CRC of its line sums.
struct ImageEvidence {
    static constexpr std::size_t encoded_size = 16;
    std::uint32_t count = 0;
    std::uint32_t extent = 0;
    std::uint32_t crc = 0;
    std::uint32_t written = 0; ///< of a block as it is now: pages that are not erased; not kept, for the digest has them

    void encode(std::span<std::byte, encoded_size> out) const;
    /// False: its checksum does not hold.
    [[nodiscard]] static bool decode(std::span<const std::byte, encoded_size> in, ImageEvidence& evidence);
    friend bool operator==(const ImageEvidence& a, const ImageEvidence& b) { return a.count == b.count && a.extent == b.extent && a.crc == b.crc; }
};

/// How much was ever written to the blocks: grows with each erase and each page. Kept in the other image, as eight bytes with a check of their own,
/// it tells after a kill, too, that a part of the blocks is older, or that a record among others is gone.
[[nodiscard]] std::uint64_t tally_of(std::span<const ImageEvidence> blocks, std::uint32_t pages_per_block);
[[nodiscard]] std::uint64_t sealed_tally(std::uint64_t tally);
/// nullopt: none was kept, or it was damaged.
[[nodiscard]] std::optional<std::uint64_t> unsealed_tally(std::uint64_t sealed);

enum class EvidenceOwner : std::uint8_t { nand, pram };
/// The generation holds the exclusive-or of both owners' roots.
[[nodiscard]] std::uint64_t root_of(std::span<const ImageEvidence> evidence, EvidenceOwner owner);

} // namespace flashlab
