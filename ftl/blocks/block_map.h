/// Block-mapped logical pages: a data block for each logical block, and which pages of it anybody wrote.
///
/// Idea       A logical block is as many consecutive logical pages as a block has pages; page i of it lies at page i of its data block, unless a log
///            block holds a newer version. One bit says that a page is mapped, another that its newest version is in a log block.
///            Interleaved (MC4), I neighbouring blocks share I times as many consecutive pages, dealt out one by one: page p is block p mod I's. The
///            scheme gives neighbouring blocks to different channels, so requests of a page each go to them in turn. The last logical_blocks() mod I
///            blocks are not interleaved.
/// Invariant  A logged page is mapped. mapped_pages() is the number of mapped bits. page_of(block_of(p), offset_of(p)) == p.
/// Cost       4 bytes a logical block and 2 bits a logical page; O(1) each.
/// Power cut  RAM only; comes back from the checkpoint, the journal and the log blocks' OOB (ftl/recovery/merge_journal.h).
/// Source     Kim et al., "A space-efficient flash translation layer for CompactFlash systems", 2002 (BAST); CO13; Kang et al. 2007, 4.2.2 (MC4).
#pragma once

#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "base/contract.h"
#include "base/divider.h"
#include "nand/geometry.h"

namespace flashlab {

using LogicalBlock = Id<struct LogicalBlockTag, std::uint32_t>;

class BlockMap {
public:
    BlockMap(const Geometry& geometry, std::uint32_t logical_blocks, std::uint32_t interleaving = 1);

    [[nodiscard]] std::uint32_t logical_blocks() const { return static_cast<std::uint32_t>(data_.size()); }
    [[nodiscard]] std::uint32_t pages_per_block() const { return pages_per_block_.divisor(); }
    /// For what counts by blocks and is no logical page.
    [[nodiscard]] const Divider& by_blocks() const { return pages_per_block_; }
    [[nodiscard]] std::uint32_t logical_pages() const { return logical_blocks() * pages_per_block(); }
    [[nodiscard]] LogicalBlock block_of(Lpn lpn) const {
        if (lpn.value() >= interleaved_pages_) [[likely]]
            return LogicalBlock{pages_per_block_.divide(lpn.value())};
        return LogicalBlock{team_of(lpn) * interleaving_ + lpn.value() % interleaving_};
    }
    [[nodiscard]] std::uint32_t offset_of(Lpn lpn) const {
        if (lpn.value() >= interleaved_pages_) [[likely]]
            return pages_per_block_.remainder(lpn.value());
        return (lpn.value() - team_of(lpn) * interleaving_ * pages_per_block()) / interleaving_;
    }
    [[nodiscard]] Lpn page_of(LogicalBlock block, std::uint32_t offset) const {
        const std::uint32_t plain = block.value() * pages_per_block();
        if (plain >= interleaved_pages_) [[likely]]
            return Lpn{plain + offset};
        const std::uint32_t of_team = block.value() % interleaving_;
        return Lpn{(block.value() - of_team) * pages_per_block() + offset * interleaving_ + of_team};
    }
    /// Consecutive logical pages from this one on that are consecutive in its block.
    [[nodiscard]] std::uint32_t run_from(Lpn lpn) const { return lpn.value() < interleaved_pages_ ? 1 : pages_per_block() - offset_of(lpn); }
    /// Which offsets of the block hold logical pages of [first, end).
    struct Offsets {
        std::uint32_t from;
        std::uint32_t to;
    };
    [[nodiscard]] Offsets offsets_in(LogicalBlock block, std::uint32_t first, std::uint32_t end) const;
    /// Which blocks hold logical pages of [first, end), first < end: all of [from, to) may.
    struct Homes {
        LogicalBlock from;
        LogicalBlock to;
    };
    [[nodiscard]] Homes homes_of(std::uint32_t first, std::uint32_t end) const;

    [[nodiscard]] std::optional<BlockId> data_block(LogicalBlock block) const {
        const std::uint32_t entry = data_[block.value()];
        return entry == none ? std::nullopt : std::optional{BlockId{entry}};
    }
    void set_data_block(LogicalBlock block, std::optional<BlockId> to) { data_[block.value()] = to ? to->value() : none; }

    [[nodiscard]] bool is_mapped(Lpn lpn) const { return test(mapped_, lpn); }
    [[nodiscard]] bool is_logged(Lpn lpn) const { return test(logged_, lpn); }
    void map(Lpn lpn);
    /// The page must not be logged any more.
    void unmap(Lpn lpn);
    void set_logged(Lpn lpn) { word(logged_, lpn) |= bit(lpn); }
    void clear_logged(Lpn lpn) { word(logged_, lpn) &= ~bit(lpn); }

    [[nodiscard]] std::uint64_t mapped_pages() const { return mapped_pages_; }
    /// Mapped pages of the block at offsets in [from, to).
    [[nodiscard]] std::uint32_t mapped_in(LogicalBlock block, std::uint32_t from, std::uint32_t to) const;
    /// First mapped (logged) offset at or after `from`; pages_per_block() when there is none.
    [[nodiscard]] std::uint32_t next_mapped(LogicalBlock block, std::uint32_t from) const { return next(mapped_, block, from); }
    [[nodiscard]] std::uint32_t next_logged(LogicalBlock block, std::uint32_t from) const { return next(logged_, block, from); }
    /// First offset at or after `from` whose newest version is not in the data block.
    [[nodiscard]] std::uint32_t end_of_data(LogicalBlock block, std::uint32_t from) const;

    /// A row of mapped bits as bytes, bit i % 8 of byte i / 8 for page i: what journal and checkpoint keep.
    [[nodiscard]] std::uint32_t row_bytes() const { return (pages_per_block() + 7) / 8; }
    void store_row(LogicalBlock block, std::span<std::byte> to) const;
    /// Nothing of the block may be logged.
    void load_row(LogicalBlock block, std::span<const std::byte> from);

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    [[nodiscard]] std::size_t index(Lpn lpn) const { return std::size_t{block_of(lpn).value()} * words_ + offset_of(lpn) / 64; }
    [[nodiscard]] std::uint64_t bit(Lpn lpn) const { return std::uint64_t{1} << (offset_of(lpn) % 64); }
    [[nodiscard]] bool test(const std::vector<std::uint64_t>& bits, Lpn lpn) const { return (bits[index(lpn)] & bit(lpn)) != 0; }
    [[nodiscard]] std::uint64_t& word(std::vector<std::uint64_t>& bits, Lpn lpn) { return bits[index(lpn)]; }
    [[nodiscard]] std::uint32_t next(const std::vector<std::uint64_t>& bits, LogicalBlock block, std::uint32_t from) const;

    /// Number of the I blocks that share their pages.
    [[nodiscard]] std::uint32_t team_of(Lpn lpn) const { return lpn.value() / (interleaving_ * pages_per_block()); }

    Divider pages_per_block_;
    std::uint32_t interleaving_;
    std::uint32_t interleaved_pages_; ///< from the first; 0: none
    std::uint32_t words_;             ///< of a row
    std::vector<std::uint32_t> data_;
    std::vector<std::uint64_t> mapped_;
    std::vector<std::uint64_t> logged_;
    std::uint64_t mapped_pages_ = 0;
};

} // namespace flashlab
