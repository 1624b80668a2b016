/// Which dies are one where rows of pages have parity (nand/rain.h).
///
/// Idea       Over the channels first, so that the buses of a row work side by side.
/// Invariant  Each die is a member of one.
/// Cost       A vector of all dies.
/// Power cut  Follows from the configuration.
#pragma once

#include <vector>

#include "nand/geometry.h"
#include "nand/nand_config.h"

namespace flashlab {

/// The members of the first die that users see, then those of the next; `width` each. chips.with_parity(width) holds.
[[nodiscard]] std::vector<DieId> dies_of_rows(const Geometry& chips, std::uint32_t width);
/// Pages of a block that stay together on a die: a word line, or where blocks have no whole ones a page of the chip. It is a matter of the layout, so
/// it does not depend on keys of the mount, as whether word lines are programmed at once.
[[nodiscard]] std::uint32_t line_of_rows(const NandConfig& nand);

} // namespace flashlab
