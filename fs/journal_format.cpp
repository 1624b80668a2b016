#include "fs/journal_format.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::uint64_t mib = 1024 * 1024;
constexpr std::size_t crc_at = JournalSuperblock::encoded_size - 4;
constexpr std::size_t record_crc_at = 16;

std::uint32_t record_crc(std::span<const std::byte> record) {
    std::vector<std::byte> head{record.begin(), record.begin() + journal_block_bytes};
    std::fill_n(head.begin() + record_crc_at, 4, std::byte{0});
    return crc32c(record.subspan(journal_block_bytes), crc32c(head));
}

} // namespace

std::expected<JournalSuperblock, std::string> JournalSuperblock::lay_out(std::uint64_t device_bytes, std::uint32_t page_bytes) {
    if (page_bytes == 0 || page_bytes % journal_block_bytes != 0)
        return std::unexpected(
            fmt::format("metadata in a journal need pages of a multiple of {} bytes, these have {}", journal_block_bytes, page_bytes));
    JournalSuperblock s;
    s.page_bytes = page_bytes;
    s.home_blocks = std::clamp(device_bytes / 32, 2 * mib, 2048 * mib) / journal_block_bytes;
    s.ring_blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(s.home_blocks / 16, 128, 4096));
    if (device_bytes < 2 * s.data_at())
        return std::unexpected(
            fmt::format("a device of {} bytes is too small for metadata in a journal: at least {}", device_bytes, 2 * s.data_at()));
    s.data_pages = (device_bytes - s.data_at()) / page_bytes;
    return s;
}

void JournalSuperblock::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.u64(journal_magic);
    writer.u32(journal_format_version);
    writer.u32(page_bytes);
    writer.u32(ring_blocks);
    writer.u32(0);
    writer.u64(home_blocks);
    writer.u64(data_pages);
    writer.u64(first_sequence);
    writer.zeros(12);
    writer.u32(crc32c(writer.written()));
    ensure(writer.full(), "JournalSuperblock: fields and encoded_size agree");
}

std::expected<JournalSuperblock, std::string> JournalSuperblock::decode(std::span<const std::byte, encoded_size> in) {
    if (std::ranges::all_of(in, [](std::byte b) { return b == std::byte{0}; }))
        return std::unexpected(std::string{"no file system here: the journal's superblock is empty; if there was one, put back copies of both images "
                                           "that were made together, else run mkfs"});
    LittleEndianReader reader{in};
    if (reader.u64() != journal_magic) return std::unexpected(std::string{"not a FlashLab file system with a journal: the superblock is foreign"});
    const std::uint32_t version = reader.u32();
    if (crc32c(in.first<crc_at>()) != load_le<std::uint32_t>(in.subspan<crc_at>()))
        return std::unexpected(
            std::string{"nand.img is damaged: the checksum of the journal's superblock does not hold; restore the image from a copy"});
    if (version != journal_format_version)
        return std::unexpected(
            fmt::format("journal format {} is newer than this program's {}: use the flashlab that made it", version, journal_format_version));
    JournalSuperblock s;
    s.page_bytes = reader.u32();
    s.ring_blocks = reader.u32();
    (void)reader.u32();
    s.home_blocks = reader.u64();
    s.data_pages = reader.u64();
    s.first_sequence = reader.u64();
    if (s.page_bytes % journal_block_bytes != 0 || s.page_bytes == 0 || s.ring_blocks < 16 || s.home_blocks == 0 ||
        s.home_blocks > 2048 * mib / journal_block_bytes)
        return std::unexpected(
            std::string{"nand.img is damaged: the parts of the journal's superblock do not fit together; restore the image from a copy"});
    return s;
}

std::vector<std::byte> encode_journal_record(std::uint64_t sequence, std::span<const std::uint32_t> blocks, std::span<const std::byte> images) {
    ensure(images.size() == blocks.size() * journal_block_bytes, "a journal record: an image for every block");
    const std::size_t head = static_cast<std::size_t>(journal_head_blocks(blocks.size())) * journal_block_bytes;
    std::vector<std::byte> record(head + images.size());
    LittleEndianWriter writer{record};
    writer.u32(journal_record_magic);
    writer.u32(static_cast<std::uint32_t>(blocks.size()));
    writer.u64(sequence);
    writer.u32(0);
    writer.u32(0);
    for (const std::uint32_t block : blocks) writer.u32(block);
    std::ranges::copy(images, record.begin() + static_cast<std::ptrdiff_t>(head));
    store_le<std::uint32_t>(std::span{record}.subspan<record_crc_at>(), record_crc(record));
    return record;
}

std::optional<JournalRecord> decode_journal_record(std::span<const std::byte> ring_part, std::uint64_t sequence) {
    if (ring_part.size() < journal_block_bytes) return std::nullopt;
    LittleEndianReader reader{ring_part};
    const std::uint32_t magic = reader.u32();
    const std::uint32_t count = reader.u32();
    const std::uint64_t number = reader.u64();
    const std::uint32_t crc = reader.u32();
    (void)reader.u32();
    if (magic != journal_record_magic || number != sequence || count == 0 || count > ring_part.size() / journal_block_bytes) return std::nullopt;
    JournalRecord record;
    record.ring_blocks = journal_record_blocks(count);
    if (record.ring_blocks * journal_block_bytes > ring_part.size()) return std::nullopt;
    const auto whole = ring_part.first(static_cast<std::size_t>(record.ring_blocks) * journal_block_bytes);
    if (record_crc(whole) != crc) return std::nullopt;
    for (std::uint32_t i = 0; i < count; ++i) record.blocks.push_back(reader.u32());
    record.images = whole.subspan(static_cast<std::size_t>(journal_head_blocks(count)) * journal_block_bytes);
    return record;
}

} // namespace flashlab
