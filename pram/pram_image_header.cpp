#include "pram/pram_image_header.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "pram/pram.h"
#include "pram/pram_line_checks.h"

namespace flashlab {

namespace {

constexpr std::array magic{std::byte{'F'}, std::byte{'L'}, std::byte{'A'}, std::byte{'B'},
                           std::byte{'P'}, std::byte{'R'}, std::byte{'A'}, std::byte{'M'}};
constexpr std::size_t crc_offset = PramImageHeader::encoded_size - sizeof(std::uint32_t);
constexpr std::uint64_t page = 4096;

} // namespace

std::uint64_t PramImageHeader::cells_offset() const {
    const std::uint64_t wear_bytes = pram_wear_regions(cell_bytes) * sizeof(std::uint64_t);
    return wear_offset() + (wear_bytes + page - 1) / page * page;
}

std::uint64_t PramImageHeader::sums_offset() const { return cells_offset() + cell_bytes; }

std::uint64_t PramImageHeader::state_offset() const {
    const std::uint64_t sum_bytes = pram_lines(cell_bytes) * sizeof(std::uint32_t);
    return sums_offset() + (sum_bytes + page - 1) / page * page;
}

std::uint64_t PramImageHeader::file_bytes() const { return state_offset() + page; }

void PramImageHeader::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.bytes(magic);
    writer.u32(version);
    writer.u32(encoded_size);
    writer.bytes(uuid);
    writer.u64(cell_bytes);
    writer.u32(word_bytes);
    writer.u32(pram_wear_region_bytes);
    writer.u64(wear_offset());
    writer.u64(cells_offset());
    writer.zeros(crc_offset - writer.written().size());
    writer.u32(crc32c(writer.written()));
    ensure(writer.full(), "PramImageHeader: fields and encoded_size agree");
}

std::expected<PramImageHeader, std::string> PramImageHeader::decode(std::span<const std::byte, encoded_size> in) {
    LittleEndianReader reader{in};
    if (!std::ranges::equal(reader.bytes(magic.size()), magic))
        return std::unexpected(std::string{"is not a FlashLab PRAM image (wrong magic); restore it from a copy of the same time as nand.img"});
    const std::uint32_t version = reader.u32();
    // A newer version may compute its checksum in another way, so it is told before the checksum is looked at.
    if (version > current_version && version < 0x10000)
        return std::unexpected(fmt::format("has format version {}, this flashlab reads version {}; use a newer flashlab", version, current_version));
    if (load_le<std::uint32_t>(in.subspan(crc_offset)) != crc32c(in.first(crc_offset)) || version > current_version) {
        return std::unexpected(std::string{"header is damaged (checksum does not match); restore the image from a copy"});
    }
    if (version < first_version) {
        return std::unexpected(
            fmt::format("has format version {}, which has no checksums of its cells; this flashlab reads version {}: copy the files out with the "
                        "flashlab that made it, and make the device anew",
                        version, current_version));
    }
    const std::uint32_t header_bytes = reader.u32();
    PramImageHeader header;
    header.version = version;
    std::ranges::copy(reader.bytes(header.uuid.size()), header.uuid.begin());
    header.cell_bytes = reader.u64();
    header.word_bytes = reader.u32();
    const std::uint32_t region_bytes = reader.u32();
    const std::uint64_t wear_at = reader.u64();
    const std::uint64_t cells_at = reader.u64();
    const bool layout_known =
        header_bytes == encoded_size && region_bytes == pram_wear_region_bytes && wear_at == wear_offset() && cells_at == header.cells_offset();
    const auto valid = PramConfig{.bytes = header.cell_bytes, .word_bytes = header.word_bytes}.validate();
    if (!layout_known || !valid)
        return std::unexpected(std::string{"header contradicts itself though its checksum holds; it was not written by flashlab"});
    return header;
}

} // namespace flashlab
