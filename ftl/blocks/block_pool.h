/// The blocks that a block-mapping scheme takes and gives back: where they are, when they are ready, which are lost.
///
/// Idea       Free blocks of all planes in one pool. A block is asked for by the plane it should lie on; when that plane has none ready, the plane
///            whose next block is ready first gives one: any block can hold any logical block.
/// Invariant  A block is free, taken or lost; a lost one never comes back. A free block that is not known erased is erased when it is taken.
/// Cost       O(1) to give back, O(planes) at most to take; 9 bytes a block.
/// Power cut  RAM only. After an unclean mount every free block is garbage: erased again before its first program (C6).
#pragma once

#include <expected>
#include <vector>

#include "ftl/blocks/block_exchange.h"
#include "ftl/blocks/free_blocks.h"
#include "ftl/ftl.h"
#include "nand/nand_array.h"

namespace flashlab {

/// Which of a plane's free blocks is taken: the one that waits longest, or by erase counts.
enum class TakeOrder : std::uint8_t { in_turn, least_worn, most_worn };

class BlockPool final : public BlockExchange {
public:
    /// The first `planes` planes.
    BlockPool(NandArray& array, std::uint32_t planes);

    struct Taken {
        BlockId block{0};
        SimTime ready; ///< erased from then on
    };
    /// At the mount: a block nobody names.
    void add(BlockId block, bool is_erased);
    /// At the mount: a block that somebody names.
    void add_taken() { ++good_; }
    void add_lost() { ++lost_; }

    void set_order(TakeOrder order) { order_ = order; }
    /// no_free_block when there is none. Blocks whose erase fails are lost on the way.
    [[nodiscard]] FtlResult<Taken> take(PlaneId plane, const Io& io);
    /// What was taken was not used.
    void put_back(const Taken& unused) {
        ready_[unused.block.value()] = unused.ready;
        last_end_ = std::max(last_end_, unused.ready);
        free_.add_erased(unused.block);
    }
    /// Erased at once, or lost when it failed before. Returns the end of the erase.
    [[nodiscard]] FtlResult<SimTime> give_back(BlockId block, const Io& io);
    [[nodiscard]] std::optional<Lent> offer(PlaneId plane) override;
    void lend(BlockId offered) override;
    void give(BlockId block, SimTime ready) override;
    /// To be lost instead of erased when it is given back.
    void set_failing(BlockId block) { failing_[block.value()] = 1; }
    [[nodiscard]] bool is_failing(BlockId block) const { return failing_[block.value()] != 0; }

    [[nodiscard]] std::uint32_t free_blocks() const { return free_.total(); }
    [[nodiscard]] std::uint32_t good_blocks() const { return good_; } ///< free or taken
    [[nodiscard]] std::uint32_t lost_blocks() const { return lost_; }
    [[nodiscard]] std::uint64_t retired_blocks() const { return retired_; } ///< lost since the mount
    [[nodiscard]] std::vector<BlockId> erased_blocks() const;
    [[nodiscard]] std::vector<BlockId> garbage_blocks() const;
    /// No erase of a free block ends later.
    [[nodiscard]] SimTime last_end() const { return last_end_; }
    [[nodiscard]] std::uint32_t planes() const { return planes_; }

private:
    [[nodiscard]] FtlResult<void> lose(BlockId block, SimTime now);
    [[nodiscard]] std::optional<PlaneId> choose(PlaneId plane, SimTime now) const;
    void bring_forward(PlaneId plane, SimTime now);

    NandArray& array_;
    std::uint32_t planes_;
    FreeBlocks free_;
    TakeOrder order_ = TakeOrder::in_turn;
    std::vector<SimTime> ready_; ///< of a free block: end of its erase
    std::vector<std::uint8_t> failing_;
    std::uint32_t good_ = 0;
    std::uint32_t lost_ = 0;
    std::uint64_t retired_ = 0;
    SimTime last_end_ = sim_start;
};

} // namespace flashlab
