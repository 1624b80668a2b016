#include "nand/nand_evidence.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "nand/host_file.h"

namespace flashlab {

namespace {

constexpr std::size_t record_bytes = ImageLayout::page_record_bytes;
constexpr std::size_t entry_bytes = ImageEvidence::encoded_size;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

bool is_erased_record(const std::byte* record) { return load_le<std::uint64_t>(std::span{record, sizeof(std::uint64_t)}) == 0; }

/// Bytes of a record that mean nothing (nand/FORMAT.md, "Page record") count as zero.
std::uint32_t crc_of_records(std::span<const std::byte> records) {
    constexpr std::uint32_t garbage = page_record_in_change & 0xffff'ffff;
    const auto counts_whole = [&](std::size_t at) {
        return !is_erased_record(records.data() + at) && load_le<std::uint32_t>(records.subspan(at, sizeof garbage)) != garbage;
    };
    std::uint32_t crc = 0;
    for (std::size_t at = 0; at < records.size();) {
        std::size_t end = at;
        while (end < records.size() && counts_whole(end)) end += record_bytes;
        if (end != at) {
            crc = crc32c(records.subspan(at, end - at), crc);
        } else {
            std::array<std::byte, record_bytes> known{};
            if (!is_erased_record(records.data() + at)) std::memcpy(known.data(), records.data() + at, sizeof garbage);
            crc = crc32c(known, crc);
            end = at + record_bytes;
        }
        at = end;
    }
    return crc;
}

} // namespace

ImageEvidence NandEvidence::evidence_of(std::span<const std::byte> block_record, std::span<const std::byte> records) const {
    BlockRecord block;
    ImageEvidence evidence;
    if (decode_block_record(block_record.first<ImageLayout::block_record_bytes>(), block)) evidence.count = block.erase_count;
    std::size_t end = records.size();
    while (end != 0 && is_erased_record(records.data() + end - record_bytes)) end -= record_bytes;
    evidence.extent = static_cast<std::uint32_t>(end / record_bytes) | (block.grown_bad ? evidence_bad_mark : 0);
    for (std::size_t at = 0; at < end; at += record_bytes) evidence.written += is_erased_record(records.data() + at) ? 0 : 1;
    if (end != 0) evidence.crc = crc_of_records(records.first(end));
    return evidence;
}

NandEvidence::Result<std::vector<std::byte>> NandEvidence::records_of(BlockId block) const {
    std::vector<std::byte> records(std::size_t{geometry_.pages_per_block()} * record_bytes);
    if (auto got = read_all(fd_, layout_.page_record_at(geometry_.page_of(block, 0)), records); !got) return std::unexpected(got.error());
    return records;
}

NandEvidence::Result<ImageEvidence> NandEvidence::survey(BlockId block) const {
    std::array<std::byte, ImageLayout::block_record_bytes> own{};
    if (auto got = read_all(fd_, layout_.block_record_at(block), own); !got) return std::unexpected(got.error());
    const auto records = records_of(block);
    if (!records) return std::unexpected(records.error());
    return evidence_of(own, *records);
}

NandEvidence::Result<std::vector<ImageEvidence>> NandEvidence::survey() const {
    const std::size_t block_bytes = std::size_t{geometry_.pages_per_block()} * record_bytes;
    const auto blocks_at_once = static_cast<std::uint32_t>(std::max<std::size_t>(1, piece_bytes / block_bytes));
    std::vector<ImageEvidence> all(geometry_.blocks());
    std::vector<std::byte> own(std::size_t{geometry_.blocks()} * ImageLayout::block_record_bytes);
    if (auto got = read_all(fd_, layout_.blocks_at, own); !got) return std::unexpected(got.error());
    std::vector<std::byte> records(blocks_at_once * block_bytes);
    std::uint64_t next_data = 0; ///< from here on the host has stored something
    for (std::uint32_t first = 0; first < geometry_.blocks(); first += blocks_at_once) {
        const std::uint32_t count = std::min(blocks_at_once, geometry_.blocks() - first);
        const std::uint64_t at = layout_.page_record_at(geometry_.page_of(BlockId{first}, 0)), end = at + count * block_bytes;
        if (next_data < at) {
            const off_t found = ::lseek(fd_, static_cast<off_t>(at), SEEK_DATA);
            next_data = found >= 0 ? static_cast<std::uint64_t>(found) : errno == ENXIO ? ~std::uint64_t{0} : at; // a host without holes has data
        }
        const bool is_hole = next_data >= end;
        const auto part = std::span{records}.first(is_hole ? 0 : count * block_bytes);
        if (auto got = read_all(fd_, at, part); !got) return std::unexpected(got.error());
        for (std::uint32_t i = 0; i < count; ++i)
            all[first + i] =
                evidence_of(std::span{own}.subspan((first + i) * ImageLayout::block_record_bytes, ImageLayout::block_record_bytes),
                            is_hole ? std::span<const std::byte>{} : std::span<const std::byte>{part}.subspan(i * block_bytes, block_bytes));
    }
    return all;
}

NandEvidence::Result<std::vector<ImageEvidence>> NandEvidence::read(bool second) const {
    std::vector<std::byte> raw(std::size_t{geometry_.blocks()} * entry_bytes);
    if (auto got = read_all(fd_, layout_.evidence_at(second), raw); !got) return std::unexpected(got.error());
    std::vector<ImageEvidence> all(geometry_.blocks());
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!ImageEvidence::decode(std::span{raw}.subspan(i * entry_bytes).first<entry_bytes>(), all[i]))
            return std::unexpected(HostIoError{EBADMSG});
    return all;
}

/// Only those pages of the host that change, so that a large new image stays sparse.
NandEvidence::Result<void> NandEvidence::write(bool second, std::span<const ImageEvidence> evidence) const {
    constexpr std::size_t page = 4096;
    std::vector<std::byte> before(evidence.size() * entry_bytes), after(before.size());
    if (auto got = read_all(fd_, layout_.evidence_at(second), before); !got) return got;
    for (std::size_t i = 0; i < evidence.size(); ++i) evidence[i].encode(std::span{after}.subspan(i * entry_bytes).first<entry_bytes>());
    for (std::size_t at = 0; at < after.size(); at += page) {
        const std::size_t bytes = std::min(page, after.size() - at);
        if (std::memcmp(before.data() + at, after.data() + at, bytes) == 0) continue;
        if (auto wrote = write_all(fd_, layout_.evidence_at(second) + at, std::span{after}.subspan(at, bytes)); !wrote) return wrote;
    }
    return {};
}

NandEvidence::Result<NandEvidence::Age> NandEvidence::age_of(BlockId block, const ImageEvidence& vouched, const ImageEvidence& now) const {
    if (now == vouched) return Age::as_vouched;
    const auto records = records_of(block);
    if (!records) return std::unexpected(records.error());
    std::array<std::byte, ImageLayout::block_record_bytes> own{};
    if (auto got = read_all(fd_, layout_.block_record_at(block), own); !got) return std::unexpected(got.error());
    BlockRecord own_record;
    bool decodes = decode_block_record(own, own_record), spoiled = false;
    const std::uint32_t before = vouched.extent & ~evidence_bad_mark, extent = now.extent & ~evidence_bad_mark;
    for (std::uint32_t page = 0; page < extent; ++page) {
        PageRecord record;
        decodes = decode_page_record(std::span{*records}.subspan(page * record_bytes).first<record_bytes>(), record) && decodes;
        // By a power cut (T6, E4), or by a second read after one (T4).
        spoiled = spoiled || (page < before && record.state != CellState::programmed && record.state != CellState::erased);
    }
    if (!decodes) return Age::damaged;
    if (now.count != vouched.count) return now.count > vouched.count ? Age::later : Age::older;
    if (extent < before) return Age::older;
    const bool is_kept = before == 0 || crc_of_records(std::span{*records}.first(before * record_bytes)) == vouched.crc;
    return is_kept || spoiled ? Age::later : Age::older;
}

} // namespace flashlab
