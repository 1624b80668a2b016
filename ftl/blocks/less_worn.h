/// Which of two blocks has been erased less often: the order in which wear levelling takes free blocks.
#pragma once

#include "nand/nand_array.h"

namespace flashlab {

struct LessWorn {
    const NandArray& array;
    [[nodiscard]] bool operator()(BlockId a, BlockId b) const { return array.erase_count(a) < array.erase_count(b); }
};

} // namespace flashlab
