/// The layout of the journal store's part of the device: fs/FORMAT.md, "Journal", in code.
///
/// Idea       superblock | ring of records | home of the metadata blocks, then the data pages.
///            A record holds whole blocks and a checksum over all of itself.
/// Invariant  Records follow one another from the start of the ring, numbered from the superblock's first sequence on.
///            The first invalid record ends them.
/// Cost       Two small encodings.
/// Power cut  A record is valid as a whole or not at all; the superblock is one sector.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace flashlab {

inline constexpr std::uint32_t journal_block_bytes = 4096;
inline constexpr std::uint64_t journal_magic = 0x314c4e4a54414c46; ///< "FLATJNL1" as bytes
inline constexpr std::uint32_t journal_record_magic = 0x4345524a;  ///< "JREC"
inline constexpr std::uint32_t journal_format_version = 1;

/// The only sector of the journal that is ever rewritten in place.
struct JournalSuperblock {
    static constexpr std::size_t encoded_size = 64;
    std::uint32_t page_bytes = 4096; ///< of data; every part begins on a page
    std::uint32_t ring_blocks = 0;
    std::uint64_t home_blocks = 0;
    std::uint64_t data_pages = 0;
    std::uint64_t first_sequence = 1; ///< of the record at the ring's start

    [[nodiscard]] std::uint64_t ring_at() const { return page_bytes; }
    [[nodiscard]] std::uint64_t home_at() const { return ring_at() + round_up(std::uint64_t{ring_blocks} * journal_block_bytes); }
    [[nodiscard]] std::uint64_t data_at() const { return home_at() + round_up(home_blocks * journal_block_bytes); }

    /// Parts for a device of this size: 1/32 for the metadata (at least 2 MiB, at most 2 GiB), 1/16 of that for the ring.
    [[nodiscard]] static std::expected<JournalSuperblock, std::string> lay_out(std::uint64_t device_bytes, std::uint32_t page_bytes);
    void encode(std::span<std::byte, encoded_size> out) const;
    /// The text says what is wrong: empty, foreign, damaged, newer.
    [[nodiscard]] static std::expected<JournalSuperblock, std::string> decode(std::span<const std::byte, encoded_size> in);
    friend bool operator==(const JournalSuperblock&, const JournalSuperblock&) = default;

private:
    [[nodiscard]] std::uint64_t round_up(std::uint64_t bytes) const { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
};

/// The length of a record's head, which holds the block numbers, in blocks of the ring. The record's blocks follow it.
[[nodiscard]] constexpr std::uint64_t journal_head_blocks(std::uint64_t count) {
    return (24 + 4 * count + journal_block_bytes - 1) / journal_block_bytes;
}
[[nodiscard]] constexpr std::uint64_t journal_record_blocks(std::uint64_t count) { return journal_head_blocks(count) + count; }

/// `images`: the blocks' bytes, in the order of `blocks`.
[[nodiscard]] std::vector<std::byte> encode_journal_record(std::uint64_t sequence, std::span<const std::uint32_t> blocks,
                                                           std::span<const std::byte> images);

struct JournalRecord {
    std::vector<std::uint32_t> blocks;
    std::span<const std::byte> images;
    std::uint64_t ring_blocks = 0;
};
/// The record at the start of `ring_part`, if it is whole and has this number.
[[nodiscard]] std::optional<JournalRecord> decode_journal_record(std::span<const std::byte> ring_part, std::uint64_t sequence);

} // namespace flashlab
