/// What the blocks of a running drive hold, in few cells: the map that `flashlab top` draws.
///
/// Idea       Neighbouring blocks share a cell, so that a drive of any size fits a screen.
/// Invariant  Every block is in exactly one cell.
/// Cost       Walks the block table once.
#pragma once

#include "tools/drive/device.h"
#include "tools/text/json.h"

namespace flashlab {

/// `{blocks, cells: [{free_percent, valid_percent, erases_mean}], wear: [{erases, blocks}]}`; at most `cells` cells.
[[nodiscard]] Json block_report(Device& device, std::size_t cells);

} // namespace flashlab
