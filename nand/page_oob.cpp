#include "nand/page_oob.h"

#include <utility>

#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

/// The checksum of an all-zero body must not be zero, or an erased record would parse; CRC-32C of zero bytes with this seed is not.
constexpr std::uint32_t oob_crc_seed = 0x464c4f42; // "BOLF" in memory

bool is_known(std::uint16_t kind) {
    constexpr std::uint16_t most = std::to_underlying(PageKind::padding), parity = std::to_underlying(PageKind::parity);
    return (kind >= std::to_underlying(PageKind::data) && kind <= most) || (kind >= parity && kind <= (parity | most));
}

} // namespace

void PageOob::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.u64(sequence.value());
    writer.u32(lpn.value());
    writer.u32(scheme_word);
    writer.u16(std::to_underlying(kind));
    writer.u16(stream.value());
    writer.u32(crc32c(writer.written(), oob_crc_seed));
    ensure(writer.full(), "PageOob: fields and encoded_size agree");
}

std::expected<PageOob, OobError> PageOob::decode(std::span<const std::byte, encoded_size> in) {
    LittleEndianReader reader{in};
    PageOob oob;
    oob.sequence = WriteSequence{reader.u64()};
    oob.lpn = Lpn{reader.u32()};
    oob.scheme_word = reader.u32();
    const std::uint16_t kind = reader.u16();
    oob.stream = StreamId{reader.u16()};
    const std::uint32_t expected = crc32c(reader.consumed(), oob_crc_seed);
    if (reader.u32() != expected) return std::unexpected(OobError::bad_checksum);
    if (!is_known(kind)) return std::unexpected(OobError::unknown_kind);
    oob.kind = static_cast<PageKind>(kind);
    return oob;
}

} // namespace flashlab
