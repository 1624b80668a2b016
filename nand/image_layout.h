/// Where everything lies in a nand image, and its header page: FORMAT.md.
///
/// Idea       Header | block records | page records | page data | generation | evidence, each area aligned to 4 KiB; the areas follow from the
///            geometry alone.
/// Invariant  decode(encode(x)) == x; a header with any flipped bit does not decode. An all-zero record of either kind is a fresh one.
/// Cost       Plain arithmetic.
/// Power cut  The header is written once, when the image is made.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "nand/geometry.h"
#include "nand/page_store.h"

namespace flashlab {

using Uuid = std::array<std::byte, 16>;

enum class ImageErrorKind : std::uint8_t { missing, exists, in_use, foreign, newer_version, older_version, truncated, damaged, other_geometry, host };
struct ImageError {
    ImageErrorKind kind;
    std::string message; ///< one sentence, path included, with the remedy
};

struct ImageHeader {
    static constexpr std::size_t encoded_size = 4096;
    static constexpr std::uint32_t current_version = 6;
    static constexpr std::uint32_t first_version = 2; ///< that can be read: it keeps no evidence
    Uuid uuid{};
    GeometryConfig geometry;
    std::uint32_t version = current_version;

    void encode(std::span<std::byte, encoded_size> out) const;
    /// The error's message has no path: the caller adds it.
    [[nodiscard]] static std::expected<ImageHeader, ImageError> decode(std::span<const std::byte> in);
};

struct ImageLayout {
    static constexpr std::uint64_t alignment = 4096;
    static constexpr std::size_t block_record_bytes = 16;
    static constexpr std::size_t page_record_bytes = 32;

    explicit ImageLayout(const Geometry& geometry);
    [[nodiscard]] std::uint64_t block_record_at(BlockId block) const { return blocks_at + std::uint64_t{block.value()} * block_record_bytes; }
    [[nodiscard]] std::uint64_t page_record_at(Ppn page) const { return pages_at + std::uint64_t{page.value()} * page_record_bytes; }
    /// Of the evidence of all blocks, which is kept twice.
    [[nodiscard]] std::uint64_t evidence_at(bool second) const {
        return second ? (generation_at + alignment + total_bytes) / 2 : generation_at + alignment;
    }
    /// How long the file is. Version 2 ends with the generation.
    [[nodiscard]] std::uint64_t file_bytes(std::uint32_t version) const {
        return version == ImageHeader::first_version ? generation_at + alignment : total_bytes;
    }
    [[nodiscard]] std::uint64_t data_at(Ppn page) const { return payload_at + std::uint64_t{page.value()} * page_bytes; }

    std::uint64_t blocks_at;
    std::uint64_t pages_at;
    std::uint64_t payload_at;
    std::uint64_t page_bytes;
    std::uint64_t generation_at; ///< 4096 bytes; the evidence follows
    std::uint64_t total_bytes;   ///< of the current version
};

void encode_page_record(const PageRecord& record, std::span<std::byte, ImageLayout::page_record_bytes> out);
/// False: no program, erase or power cut writes such a record. Its bits were changed from outside.
[[nodiscard]] bool decode_page_record(std::span<const std::byte, ImageLayout::page_record_bytes> in, PageRecord& record);
/// The first eight bytes of a record while it is being replaced. They say "garbage", whatever the bytes behind them are.
inline constexpr std::uint64_t page_record_in_change = 0xff'ffff'03;
void encode_block_record(const BlockRecord& record, std::span<std::byte, ImageLayout::block_record_bytes> out);
/// False: the record's checksum does not match.
[[nodiscard]] bool decode_block_record(std::span<const std::byte, ImageLayout::block_record_bytes> in, BlockRecord& record);

} // namespace flashlab
