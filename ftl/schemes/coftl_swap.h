/// COFTL's swap area: page tables that left RAM while their set still had room, so that they need not be committed.
///
/// Idea       A ring of blocks written page by page, one of them kept empty. When the open one is full the oldest is cleaned: what is still wanted is
///            copied behind the newest. Where nothing would be gained the caller commits instead.
/// Invariant  W1 a virtual block has at most one page here, and each page at most one owner. W2 one block is never open nor holds anything.
/// Cost       One program to swap out, one read to swap in. RAM: 4 bytes a page of the area, 4 bytes a virtual block.
/// Power cut  Nothing here is believed after a mount: tables of open sets are scanned. Blocks are erased before their first use.
/// Source     Chang et al., III C 2 (CO8).
#pragma once

#include <optional>
#include <vector>

#include "ftl/schemes/coftl_ids.h"
#include "nand/nand_array.h"

namespace flashlab {

class CoftlSwap {
public:
    CoftlSwap(std::vector<BlockId> area, std::uint32_t virtual_blocks, NandArray& array);
    [[nodiscard]] bool exists() const { return area_.size() >= 2; }
    [[nodiscard]] bool contains(BlockId block) const;
    [[nodiscard]] bool holds(VirtualBlockId vb) const { return exists() && page_of_[vb.value()] != no_page; }
    /// None: no room, commit instead. A table that was here is replaced.
    [[nodiscard]] std::expected<std::optional<SimTime>, NandError> write(VirtualBlockId vb, std::span<const std::byte> page, SimTime now);
    [[nodiscard]] std::expected<SimTime, NandError> read(VirtualBlockId vb, std::span<std::byte> page, SimTime now);
    /// What is here is of no use any more.
    void forget(VirtualBlockId vb);

private:
    using BlockIndex = Id<struct SwapBlockTag, std::uint32_t>; ///< block of the area
    using SwapPage = Id<struct SwapPageTag, std::uint32_t>;    ///< page of the area
    static constexpr SwapPage no_page{no_id};
    [[nodiscard]] BlockId block_of(BlockIndex block) const { return area_[block.value()]; }
    [[nodiscard]] SwapPage page_in(BlockIndex block, std::uint32_t page) const { return SwapPage{block.value() * pages_ + page}; }
    [[nodiscard]] BlockIndex next_good(BlockIndex block) const;
    [[nodiscard]] std::uint32_t live_in(BlockIndex block) const;
    [[nodiscard]] Ppn ppn_of(SwapPage page) const { return array_.geometry().page_of(area_[page.value() / pages_], page.value() % pages_); }
    [[nodiscard]] bool has_room() const { return next_ && *next_ != pages_; }
    [[nodiscard]] std::expected<bool, NandError> open_next(SimTime now);
    [[nodiscard]] std::expected<std::optional<SimTime>, NandError> append(VirtualBlockId vb, std::span<const std::byte> page, SimTime now);

    NandArray& array_;
    std::vector<BlockId> area_;
    std::uint32_t pages_;               ///< of a block
    std::vector<VirtualBlockId> owner_; ///< by page of the area
    std::vector<SwapPage> page_of_;     ///< by virtual block
    BlockIndex open_{0};                ///< the block that is written
    std::optional<std::uint32_t> next_; ///< its next page; nullopt: no block is open yet
    std::vector<std::byte> buffer_;
};

} // namespace flashlab
