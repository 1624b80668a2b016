/// Static wear levelling: data that never change give up the blocks they wear least.
///
/// Idea       Collection wears the blocks of hot data and leaves those of cold data alone. Now and then the blocks of each die are looked at; full
///            ones that lag behind their die's mean are relocated, the furthest behind first, one at a time, the next when the last is done. The
///            freed block joins the others, and the cold data go where the scheme writes.
/// Invariant  W1 behind: by more than the threshold and more than an eighth of the mean, so that the spread that chance makes is let be. (With a
///            sixteenth a fifth of all erases were relocations, and the most worn block was further above the mean than without them.)
///            W2 relocations are at most a quarter of the erases since the last look, so that levelling cannot chase its own tail.
///            W3 it neither knows nor changes mappings: Relocations do, by Ftl::relocate.
/// Cost       A pass over the block counts for every sixteenth of the blocks that are erased; a relocation copies a block.
/// Power cut  Keeps nothing; erase counts are the chip's.
/// Source     Common practice, e.g. Chang, Hsieh, Kuo, "Endurance enhancement of flash-memory storage systems: an efficient static wear leveling
///            design". Why by die: a relocation keeps its die busy, a least-busy host goes elsewhere, and against the mean of all dies the idle one
///            would fall behind for good (measured: two dies ended at 194 and 480 erases a block instead of 245 and 290 without levelling).
#pragma once

#include "ftl/blocks/relocations.h"

namespace flashlab {

class WearLeveler {
public:
    WearLeveler(Ftl& ftl, const NandArray& array, std::uint32_t threshold);
    /// Is there something to look at or to move? Cheap enough for every request.
    [[nodiscard]] bool is_due(SimTime now) const { return !moves_.is_under_way(now) && (!moves_.empty() || erases() >= look_at_); }
    /// One relocation at most; the next wake-up time, sim_never when nothing lags.
    SimTime step(SimTime now);
    [[nodiscard]] std::uint64_t relocated_blocks() const { return moves_.relocated_blocks(); }

private:
    struct Cold {
        std::uint64_t lag = 0; ///< behind its die's mean
        BlockId block{0};
    };
    [[nodiscard]] std::uint64_t erases() const;
    void look();
    void look_at_die(BlockId first, std::uint32_t blocks);
    /// A ring of records wears at its own pace: in the mean, or among the coldest, it would stand in the way of those that can be moved.
    [[nodiscard]] static bool is_apart(BlockUse use) { return use == BlockUse::bad || use == BlockUse::other; }

    const NandArray& array_;
    Relocations moves_;
    std::uint32_t threshold_;
    std::uint64_t look_every_;   ///< erases
    std::uint64_t look_at_;      ///< erases in all
    std::vector<Cold> cold_;     ///< of the look under way
    std::vector<BlockUse> uses_; ///< of the die that is looked at
};

} // namespace flashlab
