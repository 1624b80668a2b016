/// The common part of a page-mapping scheme's checkpoint: where the open superblocks stood, and after a clean shutdown what each block was.
///
/// Idea       The scheme's own part (its map) follows as bytes that only it understands.
/// Invariant  decode(encode(x)) == x; a checkpoint of another geometry, scheme or version does not decode.
/// Cost       56 bytes, 20 an open superblock, 4 a block of it; 1 a block after a clean shutdown.
/// Power cut  Written as one record of the MetaLog: whole or not at all. Bytes: ftl/FORMAT.md.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

/// Why a checkpoint is not ours: for people.
struct PageCheckpointShape {
    std::uint32_t tag = 0; ///< the scheme: four letters
    std::uint32_t logical_pages = 0;
    std::uint32_t blocks_in_use = 0;
};

struct PageCheckpoint {
    static constexpr std::uint32_t magic = 0x4b43'4750; // "PGCK"
    static constexpr std::uint16_t version = 1;
    static constexpr std::size_t head_bytes = 56;

    enum class BlockIs : std::uint8_t { garbage = 0, erased = 1, data = 2, open = 3 }; ///< + 16 x frontier
    struct Superblock {
        GroupId group{0};
        FrontierId frontier{0};
        std::uint32_t next = 0; ///< units written
        std::uint32_t stamp = 0;
        std::vector<BlockId> columns;
        friend bool operator==(const Superblock&, const Superblock&) = default;
    };
    bool clean = false;
    std::uint64_t next_sequence = 1;
    std::uint32_t next_stamp = 1;
    std::vector<Superblock> open;
    std::vector<std::uint8_t> blocks; ///< empty unless clean

    [[nodiscard]] std::size_t encoded_bytes(std::size_t scheme_bytes) const;
    void encode(const PageCheckpointShape& shape, const UnitGeometry& units, std::span<const std::byte> scheme_part,
                std::vector<std::byte>& out) const;
    struct Decoded;
    [[nodiscard]] static std::expected<Decoded, std::string> decode(const PageCheckpointShape& shape, const UnitGeometry& units,
                                                                    std::span<const std::byte> in);
    friend bool operator==(const PageCheckpoint&, const PageCheckpoint&) = default;
};
struct PageCheckpoint::Decoded {
    PageCheckpoint head;
    std::span<const std::byte> scheme_part; ///< within what was decoded
};

} // namespace flashlab
