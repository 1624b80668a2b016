/// How many of what COFTL has, and the way between logical pages and virtual blocks.
///
/// Idea       All arithmetic of addresses: a logical page is a virtual page of a virtual block; two page sets of a primary set are its summary and
///            replacement pages, one of each for each of its `width` blocks.
/// Invariant  lpn(address(l)) == l. A chain has at most width + 1 sets; the first `width` of them have a summary and a replacement page.
/// Cost       16 bytes; O(1).
/// Power cut  Keeps nothing: the same configuration gives the same shape.
/// Source     Chang et al., III A and III C 2 (CO1, CO6).
#pragma once

#include "ftl/schemes/coftl_ids.h"

namespace flashlab {

class CoftlShape {
public:
    struct Address {
        VirtualBlockId vb;
        VirtualPage page;
    };
    CoftlShape(std::uint32_t width, std::uint32_t virtual_blocks, std::uint32_t pages_per_block)
        : width_{width}, virtual_blocks_{virtual_blocks}, rows_{pages_per_block}, pages_{pages_of(pages_per_block)} {}
    /// Virtual pages of a virtual block: for plans, without a shape.
    [[nodiscard]] static constexpr std::uint32_t pages_of(std::uint32_t pages_per_block) { return pages_per_block - 2; }

    [[nodiscard]] std::uint32_t width() const { return width_; }
    [[nodiscard]] std::uint32_t virtual_block_count() const { return virtual_blocks_; }
    [[nodiscard]] FirstIds<VirtualBlockId> virtual_blocks() const { return FirstIds<VirtualBlockId>{virtual_blocks_}; }
    [[nodiscard]] bool has(VirtualBlockId vb) const { return vb.value() < virtual_blocks_; }
    [[nodiscard]] VirtualBlockId next_in_circle(VirtualBlockId vb) const { return VirtualBlockId{(vb.value() + 1) % virtual_blocks_}; }
    /// Of a virtual block.
    [[nodiscard]] std::uint32_t page_count() const { return pages_; }
    [[nodiscard]] FirstIds<VirtualPage> pages() const { return FirstIds<VirtualPage>{pages_}; }
    [[nodiscard]] std::uint32_t logical_pages() const { return virtual_blocks_ * pages_; }
    [[nodiscard]] Address address(Lpn lpn) const { return {VirtualBlockId{lpn.value() / pages_}, VirtualPage{lpn.value() % pages_}}; }
    [[nodiscard]] Lpn lpn(VirtualBlockId vb, VirtualPage page) const { return Lpn{vb.value() * pages_ + page.value()}; }
    [[nodiscard]] Lpn first_lpn(VirtualBlockId vb) const { return lpn(vb, VirtualPage{0}); }

    /// Page sets for data in the index-th set of a chain.
    [[nodiscard]] std::uint32_t rows_of(ChainIndex index) const { return index == primary_index ? pages_ : rows_; }
    /// Behind the last of them.
    [[nodiscard]] RowId end_of(ChainIndex index) const { return RowId{rows_of(index)}; }
    [[nodiscard]] bool is_end(ChainIndex index, RowId row) const { return row >= end_of(index); }
    /// Can the index-th set be committed, and have a replacement set? The last one of the longest chain cannot.
    [[nodiscard]] bool has_summary(ChainIndex index) const { return index.value() < width_; }
    [[nodiscard]] RowId summary_row() const { return RowId{pages_}; }
    [[nodiscard]] RowId pointer_row() const { return RowId{pages_ + 1}; }

private:
    std::uint32_t width_;
    std::uint32_t virtual_blocks_;
    std::uint32_t rows_;  ///< of a block
    std::uint32_t pages_; ///< virtual pages of a virtual block
};

} // namespace flashlab
