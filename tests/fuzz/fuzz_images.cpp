// The parts of both images, of checkpoints and of journals. Any bytes decode or are refused; what decodes, its own encoding gives again.
//
// A fuzzer does not guess checksums. So each part is tried twice: as it is, and sealed, with the checksum that its bytes would have.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/crc32c.h"
#include "base/image_generation.h"
#include "base/little_endian.h"
#include "fs/format.h"
#include "fs/inode.h"
#include "fs/journal_format.h"
#include "ftl/recovery/merge_journal.h"
#include "nand/image_layout.h"
#include "nand/page_oob.h"
#include "nand/pair_backup.h"
#include "pram/pram_image_header.h"
#include "pram/redo_record.h"

using namespace flashlab;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t oob_seed = 0x464c4f42, backup_seed = 0x50554b42, redo_seed = 7; ///< nand/FORMAT.md; a ring of ours
constexpr MergeLimits small_drive{.blocks = 64, .logical_blocks = 48, .pages_per_block = 16};

/// The bytes with the checksum of the first `crc_at` of them behind these.
Bytes sealed(std::span<const std::byte> in, std::size_t crc_at, std::uint32_t seed, std::uint32_t also = 0) {
    Bytes out{in.begin(), in.end()};
    if (out.size() >= crc_at + sizeof(std::uint32_t))
        store_le<std::uint32_t>(std::span{out}.subspan(crc_at), crc32c(std::span{out}.first(crc_at), seed) ^ also);
    return out;
}

template <class Part>
void decode(std::span<const std::byte> bytes) {
    if (bytes.size() < Part::encoded_size) return;
    const auto part = Part::decode(bytes.template first<Part::encoded_size>());
    if (!part) return;
    std::array<std::byte, Part::encoded_size> again{};
    part->encode(again);
    const auto twice = Part::decode(again);
    if (!twice) __builtin_trap();
    std::array<std::byte, Part::encoded_size> third{};
    twice->encode(third);
    if (third != again) __builtin_trap();
}

template <class Part>
void try_part(std::span<const std::byte> bytes, std::size_t crc_at, std::uint32_t seed = 0) {
    decode<Part>(bytes);
    decode<Part>(sealed(bytes, crc_at, seed));
}

void try_redo_record(std::span<const std::byte> bytes) {
    const auto head = peek_redo_record(bytes);
    if (!head || head->bytes < RedoRecordFormat::head_bytes + RedoRecordFormat::tail_bytes || head->bytes > bytes.size()) return;
    const Bytes whole = sealed(bytes, head->bytes - sizeof(std::uint32_t), redo_seed);
    const auto record = decode_redo_record(whole, redo_seed);
    if (!record) return;
    for (const std::uint32_t word : {2u, 4u, 8u}) {
        std::vector<PramRun> runs;
        (void)append_runs(*record, word, runs);
    }
}

void try_page_record(std::span<const std::byte> bytes) {
    if (bytes.size() < ImageLayout::page_record_bytes) return;
    PageRecord record;
    if (!decode_page_record(bytes.first<ImageLayout::page_record_bytes>(), record)) return;
    std::array<std::byte, ImageLayout::page_record_bytes> again{};
    encode_page_record(record, again);
    PageRecord twice;
    if (!decode_page_record(again, twice) || twice.state != record.state) __builtin_trap();
}

void try_block_record(std::span<const std::byte> bytes) {
    if (bytes.size() < ImageLayout::block_record_bytes) return;
    BlockRecord record;
    (void)decode_block_record(bytes.first<ImageLayout::block_record_bytes>(), record);
    record.erase_count = load_le<std::uint32_t>(bytes);
    std::array<std::byte, ImageLayout::block_record_bytes> again{};
    encode_block_record(record, again);
    if (BlockRecord twice; !decode_block_record(again, twice) || twice.erase_count != record.erase_count) __builtin_trap();
}

void try_journal(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const std::uint32_t blocks = std::to_integer<std::uint32_t>(bytes.front()) % 4 + 1;
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < blocks; ++i) places.push_back(i * 7);
    Bytes images(std::size_t{blocks} * journal_block_bytes);
    std::ranges::copy(bytes.first(std::min(bytes.size(), images.size())), images.begin());
    Bytes record = encode_journal_record(7, places, images);
    const auto whole = decode_journal_record(record, 7);
    if (!whole || whole->blocks != places || !std::ranges::equal(whole->images, images)) __builtin_trap();
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 64); ++i) record[i] ^= bytes[i]; // its head, whatever it says now
    (void)decode_journal_record(record, 7);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span{data, size});
    (void)ImageHeader::decode(bytes);
    (void)ImageHeader::decode(sealed(bytes, ImageHeader::encoded_size - sizeof(std::uint32_t), 0));
    try_part<PramImageHeader>(bytes, PramImageHeader::encoded_size - sizeof(std::uint32_t));
    try_part<PageOob>(bytes, 20, oob_seed);
    if (bytes.size() >= PageOob::encoded_size)
        (void)BackupOob::decode(std::span<const std::byte>{sealed(bytes, 20, backup_seed)}.first<PageOob::encoded_size>());
    try_part<ImageGeneration>(bytes, 36);
    try_part<SuperblockIdentity>(bytes, 124);
    decode<SuperblockState>(bytes);
    try_part<JournalSuperblock>(bytes, JournalSuperblock::encoded_size - sizeof(std::uint32_t));
    (void)InodeRecord::decode(bytes);
    (void)decode_merge_record(bytes, small_drive);
    (void)decode_merge_checkpoint(bytes, small_drive);
    try_redo_record(bytes);
    try_page_record(bytes);
    try_block_record(bytes);
    (void)decode_journal_record(bytes, 7);
    try_journal(bytes);
    return 0;
}
