/// The blocks a group is writing: one on each of some planes of its die, filled row by row across them.
///
/// Idea       Consecutive logical pages take neighbouring columns of a row, so that they are programmed by one multi-plane command. With
///            nand.subpages a row is as many units deep as a page of the chip has, and those of a column are filled first.
/// Invariant  Column c is filled up to row next / columns, plus one if c < next % columns (depth 1). `next` is a multiple of the depth.
///            All columns lie on different planes of one die.
/// Cost       A division an allocation; swapped, never copied.
/// Power cut  RAM only; how recovery finds its blocks is the scheme's affair.
#pragma once

#include <algorithm>
#include <vector>

#include "base/sim_time.h"
#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

struct OpenColumn {
    BlockId block{0};
    std::uint32_t slot = 0;
};

struct OpenSuperblock {
    std::vector<OpenColumn> columns;
    std::uint32_t next = 0;        ///< units given out
    std::uint32_t units = 0;       ///< in all columns
    std::uint32_t depth = 1;       ///< units of a row in each column: nand.subpages
    FrontierId frontier{0};        ///< of its group, for which it was opened
    bool has_lines = true;         ///< with nand.one_shot: its word lines hold several pages, which are programmed at once
    std::uint32_t stamp = 0;       ///< counts the superblocks that the device ever opened
    SimTime ready = sim_start;     ///< nothing is programmed here before
    SimTime last_end = sim_start;  ///< end of the last program
    std::vector<SimTime> row_ends; ///< of the programs of each row, where a map on flash asks for them; else empty

    [[nodiscard]] bool is_active() const { return !columns.empty(); }
    [[nodiscard]] bool has_room() const { return next < units; }
    /// The first unit of the row in its block.
    [[nodiscard]] std::uint32_t row() const { return next / in_row() * depth; }
    [[nodiscard]] std::uint32_t column() const { return columns_of(next % in_row()); }
    /// That so many units of a row fill.
    [[nodiscard]] std::uint32_t columns_of(std::uint32_t count) const { return depth == 1 ? count : count / depth; }
    [[nodiscard]] std::uint32_t left_in_row() const { return in_row() - next % in_row(); }
    /// So many units, and those of the last page of the chip that stay without data.
    [[nodiscard]] std::uint32_t whole(std::uint32_t count) const { return depth == 1 ? count : (count + depth - 1) / depth * depth; }
    [[nodiscard]] std::uint32_t filled(std::uint32_t c) const { return filled(next, static_cast<std::uint32_t>(columns.size()), depth, c); }
    [[nodiscard]] static std::uint32_t filled(std::uint32_t next, std::uint32_t columns, std::uint32_t depth, std::uint32_t c) {
        return next / (columns * depth) * depth + (c < next % (columns * depth) / depth ? depth : 0);
    }
    [[nodiscard]] std::uint32_t in_row() const { return static_cast<std::uint32_t>(columns.size()) * depth; }
    /// The programs of `count` units, of which the first is the superblock's `from`-th, end by then.
    void note_ends(std::uint32_t from, std::uint32_t count, SimTime end) {
        if (row_ends.empty()) return;
        for (std::uint32_t row = from / in_row(); row * in_row() < from + count; ++row) row_ends[row] = std::max(row_ends[row], end);
    }
    [[nodiscard]] bool holds(BlockId block) const { return std::ranges::find(columns, block, &OpenColumn::block) != columns.end(); }
    void reset() {
        columns.clear();
        row_ends.clear();
        next = units = stamp = 0;
        frontier = host_frontier;
        ready = last_end = sim_start;
    }
};

} // namespace flashlab
