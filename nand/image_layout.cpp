#include "nand/image_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/crc32c.h"
#include "base/image_evidence.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::array<std::byte, 8> magic{std::byte{'F'}, std::byte{'L'}, std::byte{'N'},  std::byte{'A'},
                                         std::byte{'N'}, std::byte{'D'}, std::byte{0x0d}, std::byte{0x0a}};
constexpr std::size_t header_crc_at = ImageHeader::encoded_size - sizeof(std::uint32_t);
constexpr std::size_t block_crc_at = ImageLayout::block_record_bytes - sizeof(std::uint32_t);
constexpr std::uint8_t grown_bad_flag = 1;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + ImageLayout::alignment - 1) / ImageLayout::alignment * ImageLayout::alignment; }

/// Zero for an all-zero body, so that a fresh record is valid.
std::uint32_t block_crc(std::span<const std::byte> body) {
    constexpr std::array<std::byte, block_crc_at> zeros{};
    return crc32c(body) ^ crc32c(zeros);
}

constexpr std::size_t check_bytes = 3;
constexpr std::uint32_t check_shift = 8; ///< behind the state
constexpr std::uint32_t check_mask = 0xff'ffff;

/// The check of a page record: 24 bits of the CRC of all bytes but the check itself; 0 for an erased record. The check of a garbage record is a
/// constant, since a record is garbage while it is being replaced and its other bytes are not known then.
std::uint32_t check_of(CellState state, std::span<const std::byte, ImageLayout::page_record_bytes> record) {
    if (state == CellState::erased) return 0;
    if (state == CellState::garbage) return check_mask;
    const std::array<std::byte, 1> first{static_cast<std::byte>(state)};
    return crc32c(record.subspan<1 + check_bytes>(), crc32c(first)) & check_mask;
}

GeometryConfig read_geometry(LittleEndianReader& reader) {
    GeometryConfig geometry;
    for (std::uint32_t* field : {&geometry.channels, &geometry.chips_per_channel, &geometry.dies_per_chip, &geometry.planes_per_die,
                                 &geometry.blocks_per_plane, &geometry.pages_per_block, &geometry.page_bytes, &geometry.spare_bytes}) {
        *field = reader.u32();
    }
    geometry.cell = static_cast<CellType>(reader.u32());
    return geometry;
}

} // namespace

void ImageHeader::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.bytes(magic);
    writer.u32(version);
    writer.u32(encoded_size);
    writer.bytes(uuid);
    for (const std::uint32_t field : {geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die,
                                      geometry.blocks_per_plane, geometry.pages_per_block, geometry.page_bytes, geometry.spare_bytes}) {
        writer.u32(field);
    }
    writer.u32(std::to_underlying(geometry.cell));
    writer.zeros(header_crc_at - writer.written().size());
    writer.u32(crc32c(writer.written()));
    ensure(writer.full(), "ImageHeader: fields and encoded_size agree");
}

std::expected<ImageHeader, ImageError> ImageHeader::decode(std::span<const std::byte> in) {
    if (in.size() < magic.size())
        return std::unexpected(
            ImageError{ImageErrorKind::foreign, "is empty or nearly so: it was cut short, or is no image; restore it from a copy"});
    if (!std::ranges::equal(in.first(magic.size()), magic)) {
        return std::unexpected(ImageError{ImageErrorKind::foreign,
                                          "is not a FlashLab nand image; restore it from a copy of the same time as pram.img, or check the path"});
    }
    if (in.size() < encoded_size) return std::unexpected(ImageError{ImageErrorKind::truncated, "ends within its header; restore it from a copy"});
    LittleEndianReader reader{in};
    (void)reader.bytes(magic.size());
    const std::uint32_t version = reader.u32();
    // A newer version may compute its checksum in another way, so the version is looked at before the checksum. Version 0 was never written.
    if (version > current_version && version < 0x10000) {
        return std::unexpected(
            ImageError{ImageErrorKind::newer_version,
                       fmt::format("has format version {}, this program reads version {}; use a newer flashlab", version, current_version)});
    }
    const bool whole = load_le<std::uint32_t>(in.subspan(header_crc_at)) == crc32c(in.first(header_crc_at));
    if (whole && version != 0 && version < first_version) {
        return std::unexpected(ImageError{
            ImageErrorKind::older_version,
            fmt::format("has format version {}, whose page records have no checksum; this program reads version {}: copy the files out with the "
                        "flashlab that made it, and make the device anew",
                        version, current_version)});
    }
    if (!whole || version < first_version || version > current_version) {
        return std::unexpected(ImageError{ImageErrorKind::damaged, "has a damaged header (checksum mismatch); restore it from a copy"});
    }
    ImageHeader header;
    header.version = version;
    (void)reader.u32();
    std::ranges::copy(reader.bytes(header.uuid.size()), header.uuid.begin());
    header.geometry = read_geometry(reader);
    return header;
}

ImageLayout::ImageLayout(const Geometry& geometry)
    : blocks_at{ImageHeader::encoded_size}, pages_at{aligned(blocks_at + std::uint64_t{geometry.blocks()} * block_record_bytes)},
      payload_at{aligned(pages_at + std::uint64_t{geometry.pages()} * page_record_bytes)}, page_bytes{geometry.page_bytes()},
      generation_at{aligned(payload_at + geometry.bytes())},
      total_bytes{generation_at + alignment + 2 * aligned(std::uint64_t{geometry.blocks()} * ImageEvidence::encoded_size)} {}

void encode_page_record(const PageRecord& record, std::span<std::byte, ImageLayout::page_record_bytes> out) {
    LittleEndianWriter writer{out};
    writer.u8(std::to_underlying(record.state));
    writer.zeros(check_bytes);
    writer.u32(record.data_crc);
    writer.bytes(record.oob);
    ensure(writer.full(), "page record: fields and size agree");
    store_le<std::uint32_t>(out, std::to_underlying(record.state) | check_of(record.state, out) << check_shift);
}

bool decode_page_record(std::span<const std::byte, ImageLayout::page_record_bytes> in, PageRecord& record) {
    record = PageRecord{};
    const auto first = load_le<std::uint64_t>(in);
    if (first == 0) return true; // erased, whatever a killed process stored of the rest
    const auto state = static_cast<std::uint8_t>(first & 0xff);
    const auto check = static_cast<std::uint32_t>(first >> check_shift & check_mask);
    if (state == 0 || state > std::to_underlying(CellState::weak)) return false;
    record.state = static_cast<CellState>(state);
    if (check != check_of(record.state, in)) return false;
    LittleEndianReader reader{in.subspan<sizeof(std::uint32_t)>()};
    record.data_crc = reader.u32();
    std::ranges::copy(reader.bytes(record.oob.size()), record.oob.begin());
    return true;
}

void encode_block_record(const BlockRecord& record, std::span<std::byte, ImageLayout::block_record_bytes> out) {
    LittleEndianWriter writer{out};
    writer.u32(record.erase_count);
    writer.u8(record.grown_bad ? grown_bad_flag : std::uint8_t{0});
    writer.u8(record.mode ? static_cast<std::uint8_t>(std::to_underlying(*record.mode) + 1) : std::uint8_t{0});
    for (const std::uint32_t field : {record.age.programmed, record.age.reads}) {
        writer.u16(static_cast<std::uint16_t>(field & 0xffff));
        writer.u8(static_cast<std::uint8_t>(field >> 16));
    }
    writer.u32(block_crc(writer.written()));
    ensure(writer.full(), "block record: fields and size agree");
}

bool decode_block_record(std::span<const std::byte, ImageLayout::block_record_bytes> in, BlockRecord& record) {
    LittleEndianReader reader{in};
    record = BlockRecord{};
    record.erase_count = reader.u32();
    record.grown_bad = (reader.u8() & grown_bad_flag) != 0;
    const std::uint8_t mode = reader.u8();
    const bool is_known = mode <= std::to_underlying(CellType::qlc) + 1;
    if (is_known && mode != 0) record.mode = static_cast<CellType>(mode - 1);
    for (std::uint32_t* field : {&record.age.programmed, &record.age.reads}) {
        *field = reader.u16();
        *field |= std::uint32_t{reader.u8()} << 16;
    }
    const std::uint32_t expected = block_crc(reader.consumed());
    return reader.u32() == expected && is_known;
}

} // namespace flashlab
