/// What the blocks say of themselves after an unclean end: which still hold what the checkpoint knew, and every page programmed since.
///
/// Idea       One OOB read of each block's first page tells its stamp, the number of the superblock it belongs to. Below the checkpoint's it is the
///            block that the checkpoint knew; from there on it was opened since, and all its pages are read. Superblocks open at the checkpoint are
///            read from where they stood.
/// Invariant  R1 a unit is known() iff the checkpoint may speak of it: its block is in the same life, and it was written before the checkpoint.
///            R2 found() holds every whole unit programmed since, and none known().
/// Cost       One OOB read a block, one for each page programmed since the checkpoint: issued together, so that planes work side by side. 8 bytes a
///            block.
/// Power cut  Reads only.
/// Source     docs/crash-model.md, C6; Birrell et al., "A Design for High-Performance Flash Disks", MSR 2005, for summaries found by scanning.
#pragma once

#include <vector>

#include "ftl/recovery/open_block_scan.h"
#include "ftl/recovery/page_checkpoint.h"

namespace flashlab {

class BlockCensus {
public:
    /// Nothing known, nothing found: what a clean shutdown or a new device leaves.
    BlockCensus() = default;

    /// `blocks_in_use` from block 0 on, but for `outside` (sorted).
    [[nodiscard]] static std::expected<BlockCensus, NandError> take(NandArray& array, const UnitGeometry& units, std::uint32_t blocks_in_use,
                                                                    std::span<const BlockId> outside, const PageCheckpoint& checkpoint, SimTime now);

    [[nodiscard]] bool is_known(const UnitGeometry& units, UnitId unit) const {
        return units.index_in_block(unit) < known_units_[units.block_of(unit).value()];
    }
    [[nodiscard]] std::span<const FoundUnit> found() const { return found_; }
    /// What the first page of the block is; only where it parses.
    [[nodiscard]] bool holds_translation(BlockId block) const { return translation_[block.value()] != 0; }
    [[nodiscard]] std::uint64_t pages_read() const { return pages_read_; }
    [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
    [[nodiscard]] std::uint32_t next_stamp() const { return next_stamp_; }
    [[nodiscard]] SimTime done() const { return done_; }

private:
    std::vector<std::uint32_t> known_units_; ///< by block: units below are the checkpoint's
    std::vector<std::uint8_t> translation_;
    std::vector<FoundUnit> found_;
    std::uint64_t pages_read_ = 0;
    std::uint64_t next_sequence_ = 1;
    std::uint32_t next_stamp_ = 1;
    SimTime done_ = sim_start;
};

} // namespace flashlab
