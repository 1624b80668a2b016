#include "fs/format.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "fs/btree_node.h"

namespace flashlab {

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t smallest_log = 128 * kib, largest_log = 1024 * kib;
constexpr std::size_t crc_at = SuperblockIdentity::encoded_size - 4;
constexpr std::size_t state_crc_at = 12;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }
constexpr std::uint64_t bitmap_bytes(std::uint64_t bits) { return round_up(round_up(bits, 8) / 8, 4 * kib); }

} // namespace

void SuperblockIdentity::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.u64(fs_magic);
    writer.u32(fs_format_version);
    writer.u32(node_bytes);
    writer.bytes(uuid);
    writer.u64(range_bytes);
    writer.u64(log_offset);
    writer.u64(log_bytes);
    writer.u64(page_bitmap_offset);
    writer.u64(data_pages);
    writer.u64(node_bitmap_offset);
    writer.u64(nodes_offset);
    writer.u32(nodes);
    writer.u32(data_page_bytes);
    writer.u64(static_cast<std::uint64_t>(created.seconds));
    writer.u32(created.nanoseconds);
    writer.zeros(16);
    writer.u32(crc32c(writer.written()));
    ensure(writer.full(), "SuperblockIdentity: fields and encoded_size agree");
}

std::expected<SuperblockIdentity, std::string> SuperblockIdentity::decode(std::span<const std::byte, encoded_size> in) {
    if (std::ranges::all_of(in, [](std::byte b) { return b == std::byte{0}; }))
        return std::unexpected(std::string{
            "no file system here: the superblock is empty; if there was one, put back copies of both images that were made together, else run mkfs"});
    LittleEndianReader reader{in};
    if (const auto magic = reader.u64(); magic != fs_magic)
        return std::unexpected(fmt::format("not a FlashLab file system: the magic is {:016x}, not {:016x}", magic, fs_magic));
    const std::uint32_t version = reader.u32();
    if (crc32c(in.first<crc_at>()) != load_le<std::uint32_t>(in.subspan<crc_at>()))
        return std::unexpected(std::string{"the superblock is damaged: its checksum does not hold; restore the image from a copy"});
    if (version != fs_format_version)
        return std::unexpected(
            fmt::format("file system format {} is newer than this program's {}: use the flashlab that made it", version, fs_format_version));
    if (const auto bytes = reader.u32(); bytes != node_bytes)
        return std::unexpected(fmt::format("the superblock is damaged: nodes of {} bytes, not {}", bytes, node_bytes));
    SuperblockIdentity id;
    std::ranges::copy(reader.bytes(16), id.uuid.begin());
    id.range_bytes = reader.u64();
    id.log_offset = reader.u64();
    id.log_bytes = reader.u64();
    id.page_bitmap_offset = reader.u64();
    id.data_pages = reader.u64();
    id.node_bitmap_offset = reader.u64();
    id.nodes_offset = reader.u64();
    id.nodes = reader.u32();
    id.data_page_bytes = reader.u32();
    id.created.seconds = static_cast<std::int64_t>(reader.u64());
    id.created.nanoseconds = reader.u32();
    if (const auto sound = id.validate(); !sound) return std::unexpected(sound.error());
    return id;
}

std::expected<SuperblockIdentity, std::string> SuperblockIdentity::lay_out(std::uint64_t range_bytes, std::uint64_t data_pages) {
    SuperblockIdentity id;
    id.range_bytes = range_bytes;
    id.data_pages = data_pages;
    id.log_offset = superblock_bytes;
    id.log_bytes = std::clamp(range_bytes / 32 / (4 * kib) * (4 * kib), smallest_log, largest_log);
    id.page_bitmap_offset = id.log_offset + id.log_bytes;
    id.node_bitmap_offset = id.page_bitmap_offset + bitmap_bytes(data_pages);
    // The node bitmap is sized for the whole range: a page too many at most every 128 MiB.
    id.nodes_offset = id.node_bitmap_offset + bitmap_bytes(range_bytes / node_bytes);
    constexpr std::uint64_t fewest_nodes = 16;
    const std::uint64_t least = id.nodes_offset + fewest_nodes * node_bytes;
    if (range_bytes < least)
        return std::unexpected(
            fmt::format("{} bytes of PRAM are too few for the metadata of {} data pages: at least {}", range_bytes, data_pages, least));
    const std::uint64_t nodes = (range_bytes - id.nodes_offset) / node_bytes;
    id.nodes = static_cast<std::uint32_t>(std::min<std::uint64_t>(nodes, 0xffff'fffe));
    return id;
}

std::expected<void, std::string> SuperblockIdentity::validate() const {
    const auto wanted = lay_out(range_bytes, data_pages);
    if (!wanted) return std::unexpected("the superblock is damaged: " + wanted.error());
    SuperblockIdentity same = *wanted;
    same.uuid = uuid;
    same.data_page_bytes = data_page_bytes;
    same.created = created;
    if (same != *this) return std::unexpected(std::string{"the superblock is damaged: its parts do not fit together"});
    return {};
}

void SuperblockState::encode(std::span<std::byte, encoded_size> out) const {
    ensure(label.size() < label_field_bytes, "SuperblockState: the label fits");
    LittleEndianWriter writer{out};
    writer.u32(root);
    writer.u32(height);
    writer.u32(dirty ? dirty_flag : 0);
    writer.u32(0);
    writer.u64(mounts);
    writer.bytes(std::as_bytes(std::span{label}));
    writer.zeros(label_field_bytes - label.size());
    ensure(writer.full(), "SuperblockState: fields and encoded_size agree");
    store_le(out.subspan<state_crc_at>(), crc32c(out));
}

std::expected<SuperblockState, std::string> SuperblockState::decode(std::span<const std::byte, encoded_size> in) {
    std::array<std::byte, encoded_size> copy;
    std::ranges::copy(in, copy.begin());
    const auto stored = load_le<std::uint32_t>(in.subspan<state_crc_at>());
    store_le<std::uint32_t>(std::span{copy}.subspan<state_crc_at>(), 0);
    if (crc32c(copy) != stored)
        return std::unexpected(std::string{"the superblock's state is damaged: its checksum does not hold; restore the image from a copy"});
    LittleEndianReader reader{in};
    SuperblockState state;
    state.root = reader.u32();
    state.height = reader.u32();
    state.dirty = (reader.u32() & dirty_flag) != 0;
    (void)reader.u32();
    state.mounts = reader.u64();
    const auto field = reader.bytes(label_field_bytes);
    for (const std::byte b : field) {
        if (b == std::byte{0}) break;
        state.label.push_back(static_cast<char>(b));
    }
    return state;
}

} // namespace flashlab
