/// What the pages of a block that was open at a power cut say of themselves.
///
/// Idea       Reads the OOB of its pages in order until the first erased one; a unit counts iff all its pages are programmed, parse and agree.
/// Invariant  Torn pages are skipped, never believed, even where their OOB parses (T2).
/// Cost       One OOB read a programmed page and one more; bounded by the block.
/// Power cut  Reads only: may be repeated at will.
/// Source     Ours: Kim et al. (HY5) say that a log in PRAM makes recovery easy, and nothing of the open block. docs/crash-model.md, C6.
#pragma once

#include <expected>
#include <vector>

#include "ftl/blocks/unit_geometry.h"
#include "nand/nand_array.h"

namespace flashlab {

struct FoundUnit {
    Lpn lpn{0};
    WriteSequence sequence{0};
    UnitId unit{0};
    PageKind kind = PageKind::data;
    std::uint32_t stamp = 0; ///< the scheme's word
};

struct OpenBlockScan {
    std::uint32_t units_begun = 0; ///< first unit whose first page is erased: everything before was programmed at
    std::uint64_t pages_read = 0;
    SimTime done;
};

/// Appends what is readable at or after `from_unit`.
[[nodiscard]] std::expected<OpenBlockScan, NandError> scan_open_block(NandArray& array, const UnitGeometry& units, BlockId block,
                                                                      std::uint32_t from_unit, SimTime now, std::vector<FoundUnit>& found);

} // namespace flashlab
