/// Where copies of endangered pages lie, and what is written beside them (C5).
///
/// Idea       A few blocks of each die are kept for them, the first ones of its planes in turn. In those only pages are programmed that no later program
///            endangers: the first pass of each word line. A backup's OOB carries the origin's whole OOB, its PPN, and how often the origin's block had been
///            erased: an older life's backup is never taken for this life's page.
/// Invariant  decode(encode(x)) == x; an ordinary OOB is no backup's and the reverse, as their checksums start differently.
/// Cost       FORMAT.md draws the 24 bytes.
/// Power cut  A backup that is torn is worth nothing: its origin was not yet in danger.
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

/// Blocks of each die that hold backups; 0 without NandOptions::paired_pages, and on cells of one bit.
[[nodiscard]] std::uint32_t backup_blocks_per_die(const NandConfig& config);
/// Bad from the factory, or kept for backups: not for anybody above the array.
[[nodiscard]] bool is_set_aside(const NandConfig& config, BlockId block);
/// One of them?
[[nodiscard]] bool is_backup_block(const NandConfig& config, BlockId block);

} // namespace flashlab
