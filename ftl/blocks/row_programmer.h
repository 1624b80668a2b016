/// Programs units into an open superblock, row by row: new pages of the host and copies of collections alike.
///
/// Idea       Units that land in one row are one multi-plane command. With nand.one_shot whole rows up to the end of a word line are one: the cells
///            take as long for a part of a line as for all of it. With nand.subpages a row is several units deep, and what is left of the last page
///            of the chip is padding: pages of no use, which nothing makes valid.
/// Invariant  Units are given the places from `next` on, in order; `next` itself is the caller's to move, by OpenSuperblock::whole().
/// Cost       No allocation; what a unit holds is asked by an inlined call.
/// Power cut  Keeps nothing: units are durable when the program ends.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "ftl/blocks/open_superblock.h"
#include "ftl/blocks/page_blocks_config.h"
#include "nand/nand_array.h"

namespace flashlab {

/// What one unit is to hold; `data` empty: no payload.
struct UnitContent {
    Lpn lpn{0};
    WriteSequence sequence{0};
    PageKind kind = PageKind::data;
    std::span<const std::byte> data{};
    StreamId stream{no_stream};
    const Origin* by = nullptr; ///< PageProgram::by
};

class RowProgrammer {
public:
    /// `units` lives as long.
    RowProgrammer(const PageBlocksConfig& config, const UnitGeometry& units, NandArray& array)
        : units_{units}, array_{array}, stamps_pages_{config.stamps_pages}, pages_a_program_{array.config().pages_a_program()},
          most_at_once_{array.geometry().planes_per_die() * pages_a_program_}, padding_(array.keeps_payload() ? array.geometry().page_bytes() : 0) {
        ensure(array.config().options.subpages == 1 || units.pages_per_unit() == 1, "a unit is no larger than a subpage where there are some");
        programs_.reserve(most_at_once_);
    }

    /// One program takes several pages of a block.
    [[nodiscard]] bool takes_lines() const { return pages_a_program_ > 1; }
    /// Units that one call places at most.
    [[nodiscard]] std::uint32_t most_at_once() const { return most_at_once_; }
    /// What is left of the row; where a program takes several pages of a block, whole rows up to the end of the word line.
    [[nodiscard]] std::uint32_t placeable(const OpenSuperblock& set, std::uint32_t units) const {
        const std::uint32_t left = set.left_in_row();
        if (!takes_lines() || !set.has_lines || set.column() != 0 || units < 2 * left) return std::min(units, left);
        const std::uint32_t most = std::min(units, set.units - set.next) / left;
        std::uint32_t rows = 1;
        while (rows < most && (set.row() + rows * set.depth) * units_.pages_per_unit() % pages_a_program_ != 0) ++rows;
        return rows * left;
    }
    /// Column of unit i of `count` that one call places, and its row.
    [[nodiscard]] static std::pair<OpenColumn, std::uint32_t> place(const OpenSuperblock& set, std::uint32_t i, std::uint32_t count) {
        const std::uint32_t width = std::min(set.whole(count), set.left_in_row()), in_row = i % width;
        const std::uint32_t column = set.columns_of(in_row);
        return {set.columns[set.column() + column], set.row() + i / width * set.depth + in_row - column * set.depth};
    }
    /// `content(i)`: of unit i of `count`, which is placeable(). Returns when the last program ends.
    template <class Content>
    [[nodiscard]] std::expected<SimTime, NandError> program(const OpenSuperblock& set, std::uint32_t count, const Content& content, const Io& io) {
        return takes_lines() && (set.has_lines || set.depth > 1) ? program_lines(set, count, content, io) : program_row(set, count, content, io);
    }

private:
    struct PageInRows {
        std::uint32_t row = 0;  ///< of those that one call places
        std::uint32_t part = 0; ///< of its unit
    };
    /// Page by page of its blocks, each on all planes at once.
    template <class Content>
    std::expected<SimTime, NandError> program_row(const OpenSuperblock& set, std::uint32_t count, const Content& content, const Io& io) {
        SimTime end = io.when;
        for (std::uint32_t part = 0; part < units_.pages_per_unit(); ++part) {
            programs_.clear();
            for (std::uint32_t c = 0; c < count; ++c) add(set, set.column() + c, {0, part}, content(c));
            const auto programmed = array_.program(programs_, io);
            if (!programmed) return std::unexpected(programmed.error());
            end = std::max(end, *programmed);
        }
        return end;
    }
    /// As many pages of each block at once as are of one word line.
    template <class Content>
    std::expected<SimTime, NandError> program_lines(const OpenSuperblock& set, std::uint32_t count, const Content& content, const Io& io) {
        const std::uint32_t per_unit = units_.pages_per_unit(), in_row = std::min(set.whole(count), set.left_in_row());
        const std::uint32_t width = set.columns_of(in_row), together = set.has_lines ? pages_a_program_ : set.depth;
        std::uint32_t left = set.whole(count) / width * per_unit; // in each column
        SimTime end = io.when;
        for (PageInRows at; left > 0;) {
            const std::uint32_t page = (set.row() + at.row) * per_unit + at.part;
            const std::uint32_t pages = std::min(left, together - page % together);
            PageInRows next;
            programs_.clear();
            for (std::uint32_t c = 0; c < width; ++c) {
                next = at;
                for (std::uint32_t k = 0; k < pages; ++k) {
                    const std::uint32_t row = set.columns_of(next.row), i = row * in_row + c * set.depth + next.row - row * set.depth;
                    add(set, set.column() + c, next, i < count ? content(i) : UnitContent{.kind = PageKind::padding, .data = padding_});
                    if (++next.part == per_unit) next = {next.row + 1, 0};
                }
            }
            const auto programmed = array_.program(programs_, io);
            if (!programmed) return std::unexpected(programmed.error());
            end = std::max(end, *programmed);
            at = next;
            left -= pages;
        }
        return end;
    }
    void add(const OpenSuperblock& set, std::uint32_t column, PageInRows at, const UnitContent& what) {
        const UnitId unit = units_.unit_at(set.columns[column].block, set.row() + at.row);
        const std::uint32_t bytes = units_.geometry().page_bytes();
        programs_.push_back({units_.page_of(unit, at.part),
                             what.data.empty() ? what.data : what.data.subspan(std::size_t{at.part} * bytes, bytes),
                             {what.lpn, what.sequence, what.kind, stamps_pages_ ? set.stamp : at.part, what.stream},
                             0,
                             what.by});
    }

    const UnitGeometry& units_;
    NandArray& array_;
    const bool stamps_pages_;
    const std::uint32_t pages_a_program_; ///< of a block
    const std::uint32_t most_at_once_;
    const std::vector<std::byte> padding_;
    std::vector<PageProgram> programs_;
};

} // namespace flashlab
