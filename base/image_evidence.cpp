#include "base/image_evidence.h"

#include <array>
#include <utility>

#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::size_t evidence_crc_at = ImageEvidence::encoded_size - sizeof(std::uint32_t);

std::uint64_t mixed_word(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
    return x ^ (x >> 32);
}

/// Zero for zeros, so that what was never written needs no writing.
std::uint32_t evidence_crc(std::span<const std::byte> body) {
    static constexpr std::array<std::byte, evidence_crc_at> zeros{};
    static const std::uint32_t of_zeros = crc32c(zeros);
    return crc32c(body) ^ of_zeros;
}

} // namespace

void ImageEvidence::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    for (const std::uint32_t field : {count, extent, crc}) writer.u32(field);
    writer.u32(evidence_crc(writer.written()));
}

bool ImageEvidence::decode(std::span<const std::byte, encoded_size> in, ImageEvidence& evidence) {
    LittleEndianReader reader{in};
    for (std::uint32_t* field : {&evidence.count, &evidence.extent, &evidence.crc}) *field = reader.u32();
    const std::uint32_t expected = evidence_crc(reader.consumed());
    return reader.u32() == expected;
}

std::uint64_t root_of(std::span<const ImageEvidence> evidence, EvidenceOwner owner) {
    std::uint64_t root = mixed_word((std::uint64_t{evidence.size()} << 8) + std::to_underlying(owner) + 1);
    for (const ImageEvidence& one : evidence) {
        root = mixed_word(root ^ (std::uint64_t{one.count} << 32 | one.extent));
        root = mixed_word(root + one.crc);
    }
    return root;
}

std::uint64_t tally_of(std::span<const ImageEvidence> blocks, std::uint32_t pages_per_block) {
    std::uint64_t tally = 0;
    for (const ImageEvidence& block : blocks) tally += std::uint64_t{block.count} * (pages_per_block + 1) + block.written;
    return tally;
}

/// By its check it is known from that of older programs, which counted skipped pages, too: theirs says nothing here.
std::uint64_t sealed_tally(std::uint64_t tally) { return tally << 16 | ((mixed_word(tally + 2) & 0xffff) | 1); }

std::optional<std::uint64_t> unsealed_tally(std::uint64_t sealed) {
    const std::uint64_t tally = sealed >> 16;
    return sealed == sealed_tally(tally) ? std::optional{tally} : std::nullopt;
}

} // namespace flashlab
