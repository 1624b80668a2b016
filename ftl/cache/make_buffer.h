/// Which write buffer a drive has: none, in DRAM, or in PRAM.
///
/// Idea       One place reads the keys, so that the drive is told nothing of them.
/// Invariant  Null only where no key asks for a buffer.
/// Cost       Slots of the buffer: allocated once.
/// Power cut  Keeps nothing.
#pragma once

#include <memory>

#include "ftl/cache/buffered_ftl.h"
#include "ftl/ssd_config.h"

namespace flashlab {

/// `pram` and `range` are those of the write buffer, where `dram` says that it lies there. `dies`: lines that it destages at once, unless told.
[[nodiscard]] std::unique_ptr<BufferedFtl> make_buffer(const DramConfig& dram, Ftl& ftl, Pram* pram, PramRange range, std::uint32_t dies);

} // namespace flashlab
