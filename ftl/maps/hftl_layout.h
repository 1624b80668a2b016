/// Where hFTL's tables lie in its part of the PRAM; ftl/FORMAT.md draws it.
///
/// Idea       Redo log ring, header, page mapping table, valid bitmap, block info, slots of open blocks: each at a 4 KiB boundary, none moves.
/// Invariant  All-zero is an empty device: entry 0 = unmapped, state 0 = free and erased, slot 0 = no open block, magic 0 = never opened.
/// Cost       4 bytes a logical page, 1 bit a physical unit, 16 bytes a block (HY: 2.17 MB for 1 GB, about 28 bytes a block).
/// Power cut  Every change goes through the redo log, see hftl_tables.h.
/// Source     Kim et al. (HY) 4.1, Figure 6 and 5.4; HY3, HY9.
#pragma once

#include <cstdint>

#include "ftl/blocks/unit_geometry.h"
#include "pram/redo_log.h"

namespace flashlab {

enum class HftlBlockState : std::uint8_t {
    free_erased = 0, ///< erased, and nothing was issued to it since
    open = 1,        ///< named by a slot
    data = 2,
    garbage = 3, ///< free; erased again before its first program
    bad = 4,
};

struct HftlHeader {
    static constexpr std::uint32_t magic = 0x4c54'4648; // "HFTL"
    static constexpr std::uint16_t version = 1;
    static constexpr std::size_t encoded_size = 40;
};

struct HftlLayout {
    PramRange ring;
    PramAddress header{0};
    PramAddress map{0};
    PramAddress bitmap{0};
    PramAddress blocks{0};
    PramAddress slots{0};
    std::uint32_t logical_pages = 0;
    std::uint32_t row_bytes = 0; ///< of the bitmap, a block
    std::uint32_t slot_bytes = 0;
    std::uint32_t slots_a_plane = 2; ///< for each stream of data the open block and the one that closes
    std::uint32_t slot_count = 0;
    std::uint64_t bytes = 0; ///< all of it

    static constexpr std::uint32_t block_bytes = 16;
    static constexpr std::uint32_t slot_head_bytes = 16;

    [[nodiscard]] static HftlLayout make(std::uint64_t at, std::uint32_t logical_pages, const UnitGeometry& units, std::uint32_t streams = 1);
};

} // namespace flashlab
