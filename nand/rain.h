/// RAIN: a parity page for each row of pages over W dies, so that a page, or a whole die, that cannot be read is rebuilt from the others.
///
/// Idea       W dies act as one. A block that users see is one block of each of them; its pages, or those that one program takes together, are dealt
///            out die by die. The W-1 of a row are data, the last one is their exclusive-or, data and OOB alike, on another die in each row.
/// Invariant  R1 a parity page is that of a row whose pages can all be read when it is programmed, and of one life of the block. A page is rebuilt
///               by it only if all others of its row are there: a cut may leave it behind without them.
///            R2 the end that a program reports is not before those of earlier programs of its block, and a program starts when the whole block is
///               erased: users see the order of a plain block (N1, N2). What a cut left before a page that is there reads as torn, never as
///               erased or unstable.
///            R3 of a block with one member that is bad, the other W-1 hold the data, without parity. With two it is bad.
/// Cost       1/W of programs and of the space. A rebuilt page: W-1 reads. RAM: 24 bytes a block, and on a real drive the parity of each row
///            that is not full, or that a cut or a failure has broken.
/// Power cut  That parity outlives it: drives with parity have capacitors. It is not stored here: what it would give is taken from the cells.
/// Source     Patterson, Gibson, Katz, SIGMOD 1988, level 5; nand/DESIGN.md, "Parity over dies".
#pragma once

#include "nand/nand_array_impl.h"

namespace flashlab {

class NandArray::Rain final : public NandArray::Addressing {
public:
    /// The chips live as long; their geometry is one that Geometry::with_parity() accepts.
    explicit Rain(Impl& chips);
    /// The block records have been read.
    void opened();

    [[nodiscard]] const Geometry& wide_geometry() const override { return geometry_; }
    Done read(const PageRead& page, const Io& io) override;
    Done read(std::span<const PageRead> pages, const Io& io) override;
    std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io) override;
    Done program(std::span<const PageProgram> pages, const Io& io) override;
    std::expected<CopiedPage, NandError> copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) override;
    Done erase(BlockId block, CellType mode, const Io& io) override;
    Done read_two_plane(std::span<const PageRead, 2> pages, const Io& io) override { return read(pages, io); }
    Done erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) override;
    Done mark_bad(BlockId block, SimTime now) override;
    std::expected<StoredOob, NandError> inspect_oob(Ppn page) override;
    [[nodiscard]] bool is_bad(BlockId block) const override;
    [[nodiscard]] bool is_factory_bad(BlockId block) const override { return order_[block.value()].is_factory_bad; }
    [[nodiscard]] CellType mode_of(BlockId) const override { return chips_.media.own(); }
    [[nodiscard]] std::uint32_t pages_in(BlockId) const override { return geometry_.pages_per_block(); }
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const override;
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) override;
    /// Of the member that is free first: a superblock goes on to the die that it used longest ago.
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const override;

    /// The block that users see, of one of the chips'.
    [[nodiscard]] BlockId seen(BlockId of_chips) const;
    /// The block of the chips that holds the first page.
    [[nodiscard]] BlockId first_member(BlockId block) const { return chips_.geometry.block_of(place_of(geometry_.page_of(block, 0)).page); }
    /// Once for each block with data on a die that is dead: they are to be written anew.
    [[nodiscard]] std::optional<BlockId> take_degraded();
    /// A die is dead, or a block goes on without one.
    [[nodiscard]] bool has_lost_parity() const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct Place {
        std::uint32_t row;
        std::uint32_t member; ///< the die, of W
        Ppn page;             ///< of the chips
    };
    struct Order {
        SimTime erased = sim_start; ///< all members
        SimTime end = sim_start;    ///< of the last program so far
        bool is_factory_bad = false;
        bool has_bad_member = false; ///< grown bad; which, and how many, is the chips' to say
    };
    [[nodiscard]] BlockId member(BlockId block, std::uint32_t m) const;
    [[nodiscard]] DieId die_of(BlockId block, std::uint32_t m) const;
    [[nodiscard]] std::size_t dead_dies() const;
    [[nodiscard]] bool is_dead(DieId die) const { return chips_.faults != nullptr && chips_.faults->die_is_dead(die); }
    /// The member that holds no data of this block any more (R3).
    [[nodiscard]] std::uint32_t without(BlockId block) const;
    [[nodiscard]] std::uint32_t parity_member(BlockId block, std::uint32_t row) const;
    [[nodiscard]] Place place_of(Ppn page) const;
    [[nodiscard]] std::uint32_t row_pages() const { return data_ * line_; }
    /// A page of the chips at the same offset of a row's line on member m.
    [[nodiscard]] Ppn in_row(BlockId block, std::uint32_t row, std::uint32_t m, std::uint32_t offset) const {
        return chips_.geometry.page_of(member(block, m), row * line_ + offset);
    }
    [[nodiscard]] bool is_programmed(Ppn of_chips) const;
    /// The page's data as the cells hold them, in scratch_; false: they are not those that were programmed.
    [[nodiscard]] std::expected<bool, HostIoError> read_cells(Ppn of_chips);

    [[nodiscard]] bool goes_into_parity(BlockId block, std::uint32_t m) const;
    /// Takes members on dead dies out of empty blocks, so that these can be programmed.
    [[nodiscard]] Done drop_dead(BlockId block, SimTime now);
    [[nodiscard]] Done program_parity(std::span<const PageProgram> pages, const Io& io);
    [[nodiscard]] std::expected<void, HostIoError> add_parity(BlockId block, std::uint32_t row);
    /// From what a page is rebuilt.
    struct Row {
        bool has_parity;         ///< false: it is not on flash yet, but in the controller's memory
        std::vector<Ppn> others; ///< of the chips, its parity page among them; all can be read
    };
    [[nodiscard]] std::optional<Row> row_of(BlockId block, const Place& place);
    [[nodiscard]] Done rebuild(const PageRead& page, BlockId block, const Place& place, const Io& io);
    [[nodiscard]] std::optional<PageOob> rebuilt_oob(const Row& row, const Place& place);
    /// A cut has left it so, perhaps with whole pages behind it: it counts as torn, for good (R2).
    [[nodiscard]] bool was_cut(Ppn page, CellState state) {
        return state == CellState::unstable ||
               (state == CellState::erased && geometry_.page_in_block(page) < write_pointer(geometry_.block_of(page)));
    }

    Impl& chips_;
    const std::uint32_t width_; ///< W
    const std::uint32_t data_;  ///< W - 1
    const std::uint32_t line_;  ///< pages that one program takes of a block
    const Geometry geometry_;
    std::vector<DieId> dies_;          ///< members of each die that users see, W each
    std::vector<std::uint32_t> group_; ///< of each die of the chips
    std::vector<Order> order_;         ///< by block
    std::vector<bool> was_dead_;       ///< by dies_, when it was last looked for degraded blocks
    std::uint32_t rebuild_next_ = 0;   ///< block to look at
    std::vector<PageProgram> slice_;   ///< of parts_, that one program takes
    std::vector<PageProgram> parts_;   ///< of the program at hand
    std::vector<PageRead> reads_;      ///< of the reads at hand
    std::vector<BlockId> ended_;       ///< its blocks, a row of which is full
    std::vector<std::byte> parity_;    ///< of the rows that are full
    std::vector<std::byte> page_;      ///< a copy's
    std::vector<std::byte> scratch_;
};

} // namespace flashlab
