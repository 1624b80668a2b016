/// The layout of the file system's PRAM range: fs/FORMAT.md in code.
///
/// Idea       superblock | redo log | bitmap of data pages | bitmap of nodes | nodes. The superblock says where each begins.
/// Invariant  The identity is written once, by mkfs; the state changes through the redo log only. Each has its own CRC.
/// Cost       Two small decodes at open.
/// Power cut  A cut during mkfs leaves an identity whose CRC fails; a torn state is repaired by the redo log before it is read.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "fs/fs_types.h"
#include "pram/redo_log.h"

namespace flashlab {

inline constexpr std::uint64_t fs_magic = 0x0a31534654414c46; ///< "FLATFS1\n" as bytes
inline constexpr std::uint32_t fs_format_version = 1;
inline constexpr std::uint32_t superblock_bytes = 4096;
inline constexpr std::uint64_t state_offset = 512; ///< of the changing half of the superblock

/// The half that never changes. Offsets are from the start of the range.
struct SuperblockIdentity {
    static constexpr std::size_t encoded_size = 128;
    std::array<std::byte, 16> uuid{};
    std::uint64_t range_bytes = 0;
    std::uint64_t log_offset = 0;
    std::uint64_t log_bytes = 0;
    std::uint64_t page_bitmap_offset = 0;
    std::uint64_t data_pages = 0;
    std::uint64_t node_bitmap_offset = 0;
    std::uint64_t nodes_offset = 0;
    std::uint32_t nodes = 0;
    std::uint32_t data_page_bytes = 0;
    FileTime created;

    void encode(std::span<std::byte, encoded_size> out) const;
    /// The text names what is wrong: empty, foreign, damaged, newer.
    [[nodiscard]] static std::expected<SuperblockIdentity, std::string> decode(std::span<const std::byte, encoded_size> in);
    /// Where everything lies in a range of this size; the text says how much is missing.
    [[nodiscard]] static std::expected<SuperblockIdentity, std::string> lay_out(std::uint64_t range_bytes, std::uint64_t data_pages);
    /// Checks that the parts lie inside the range, in order, and are large enough.
    [[nodiscard]] std::expected<void, std::string> validate() const;
    friend bool operator==(const SuperblockIdentity&, const SuperblockIdentity&) = default;
};

/// The half that changes.
struct SuperblockState {
    static constexpr std::size_t encoded_size = 88;
    static constexpr std::size_t label_field_bytes = 64; ///< padded with NUL, at least one
    static constexpr std::uint32_t dirty_flag = 1;
    std::uint32_t root = 0;   ///< node number; 0: the tree is empty
    std::uint32_t height = 0; ///< levels of nodes; 0 with root 0
    bool dirty = false;
    std::uint64_t mounts = 0;
    std::string label;

    void encode(std::span<std::byte, encoded_size> out) const;
    [[nodiscard]] static std::expected<SuperblockState, std::string> decode(std::span<const std::byte, encoded_size> in);
    friend bool operator==(const SuperblockState&, const SuperblockState&) = default;
};

} // namespace flashlab
