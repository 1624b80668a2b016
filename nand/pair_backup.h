/// Where copies of endangered pages (backups) lie, and what is written beside them (C5).
///
/// Idea       A few blocks of each die are kept for backups: the first blocks of its planes, in turn. In a backup block only the first pass of each
///            word line is programmed, since no later program endangers these pages. The OOB of a backup holds the whole OOB of its origin, the
///            origin's PPN, and the erase count of the origin's block: a backup from before an erase is never taken for a page written after it.
/// Invariant  decode(encode(x)) == x. An ordinary OOB never parses as a backup's OOB, nor the reverse, as their checksums start from different seeds.
/// Cost       24 bytes, drawn in nand/FORMAT.md.
/// Power cut  A torn backup is not needed: the program that endangers its origin had not begun.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "nand/geometry.h"
#include "nand/nand_config.h"
#include "nand/page_oob.h"

namespace flashlab {

struct BackupOob {
    PageOob origin;
    Ppn page{0};            ///< of the origin
    std::uint16_t life = 0; ///< low bits of the erase count of its block

    [[nodiscard]] std::array<std::byte, PageOob::encoded_size> encode() const;
    [[nodiscard]] static std::optional<BackupOob> decode(std::span<const std::byte, PageOob::encoded_size> in);
};

/// How many blocks of each die are kept for backups; 0 without NandOptions::paired_pages, and on cells of one bit.
[[nodiscard]] std::uint32_t backup_blocks_per_die(const NandConfig& config);
/// Is the block bad from the factory, or kept for backups? Users of the array must not use such a block.
[[nodiscard]] bool is_set_aside(const NandConfig& config, BlockId block);
/// Is the block kept for backups?
[[nodiscard]] bool is_backup_block(const NandConfig& config, BlockId block);

} // namespace flashlab
