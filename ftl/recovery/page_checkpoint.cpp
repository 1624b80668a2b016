#include "ftl/recovery/page_checkpoint.h"

#include <fmt/format.h>

#include "base/little_endian.h"

namespace flashlab {

std::size_t PageCheckpoint::encoded_bytes(std::size_t scheme_bytes) const {
    std::size_t bytes = head_bytes + blocks.size() + scheme_bytes;
    for (const Superblock& s : open) bytes += 20 + 4 * s.columns.size();
    return bytes;
}

void PageCheckpoint::encode(const PageCheckpointShape& shape, const UnitGeometry& units, std::span<const std::byte> scheme_part,
                            std::vector<std::byte>& out) const {
    out.resize(encoded_bytes(scheme_part.size()));
    LittleEndianWriter w{out};
    w.u32(magic);
    w.u16(version);
    w.u16(static_cast<std::uint16_t>(units.pages_per_unit()));
    w.u32(shape.logical_pages);
    w.u32(shape.blocks_in_use);
    w.u32(units.geometry().pages_per_block());
    w.u32(clean ? 1 : 0);
    w.u64(next_sequence);
    w.u32(next_stamp);
    w.u32(static_cast<std::uint32_t>(open.size()));
    w.u32(static_cast<std::uint32_t>(blocks.size()));
    w.u32(shape.tag);
    w.u64(scheme_part.size());
    for (const Superblock& s : open) {
        w.u32(s.group.value());
        w.u32(s.frontier.value());
        w.u32(s.next);
        w.u32(s.stamp);
        w.u32(static_cast<std::uint32_t>(s.columns.size()));
        for (const BlockId b : s.columns) w.u32(b.value());
    }
    for (const std::uint8_t b : blocks) w.u8(b);
    w.bytes(scheme_part);
    ensure(w.full(), "a checkpoint fills its record");
}

std::expected<PageCheckpoint::Decoded, std::string> PageCheckpoint::decode(const PageCheckpointShape& shape, const UnitGeometry& units,
                                                                           std::span<const std::byte> in) {
    LittleEndianReader r{in};
    if (r.u32() != magic) return std::unexpected("no checkpoint of a page-mapping scheme");
    if (const auto v = r.u16(); v != version)
        return std::unexpected(fmt::format("a checkpoint of version {}, this program knows version {}", v, version));
    const bool same_units = r.u16() == units.pages_per_unit();
    const bool same_size = r.u32() == shape.logical_pages && r.u32() == shape.blocks_in_use && r.u32() == units.geometry().pages_per_block();
    if (!same_units || !same_size) return std::unexpected("a checkpoint of a device of another size");
    PageCheckpoint c;
    c.clean = r.u32() == 1;
    c.next_sequence = r.u64();
    c.next_stamp = r.u32();
    const std::uint32_t superblocks = r.u32();
    const std::uint32_t blocks = r.u32();
    if (r.u32() != shape.tag) return std::unexpected("a checkpoint of another scheme");
    const std::uint64_t scheme_bytes = r.u64();
    if (blocks != (c.clean ? shape.blocks_in_use : 0)) return std::unexpected("a checkpoint with too many or too few blocks");
    for (std::uint32_t i = 0; i < superblocks && !r.failed(); ++i) {
        Superblock s;
        s.group = GroupId{r.u32()};
        s.frontier = FrontierId{r.u32()};
        s.next = r.u32();
        s.stamp = r.u32();
        const std::uint32_t columns = r.u32();
        if (columns == 0 || columns > units.geometry().planes_per_die() || s.next > columns * units.units_per_block() || s.frontier.value() > 255)
            return std::unexpected("a checkpoint with an impossible superblock");
        for (std::uint32_t k = 0; k < columns; ++k) {
            s.columns.push_back(BlockId{r.u32()});
            if (s.columns.back().value() >= shape.blocks_in_use) return std::unexpected("a checkpoint with an impossible superblock");
        }
        c.open.push_back(std::move(s));
    }
    const auto raw = r.bytes(blocks);
    for (const std::byte b : raw) c.blocks.push_back(static_cast<std::uint8_t>(b));
    if (r.failed() || r.left() != scheme_bytes) return std::unexpected("a checkpoint of the wrong length");
    return Decoded{std::move(c), in.last(r.left())};
}

} // namespace flashlab
