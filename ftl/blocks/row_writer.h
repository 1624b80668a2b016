/// The loop that gives the pages of a request their places, row by row; a scheme says what comes before a row, and takes each page into its map.
///
/// Idea       A row holds pages of one stream (ftl.separation) and goes to the group that PageBlocks names; the old unit of each of its pages is
///            invalid when the row is programmed. With nand.one_shot it is several rows, up to the end of a word line. A row whose program failed is
///            written again elsewhere, and what else its block holds moves before the next row.
/// Invariant  Each page is adopted once, after its unit is valid and its old one is not.
/// Cost       No allocation, and no virtual call a page.
/// Power cut  Keeps nothing: the pages of a row are durable when the row's program ends.
#pragma once

#include <algorithm>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

/// Where so many of the pages go; of one row, if they are more.
struct RowPlace {
    PageBlocks::StreamRun run{};
    std::optional<GroupId> group{}; ///< this and what follows are RowWrite's
    bool is_wish = false, can_wait = false;
    std::uint32_t of = 0;
};

/// Returns when the last program ends, and how many pages were placed: all, or those of one row if `is_line`.
/// `where(i, pages)`: of these, from the i-th on. `prepare(i, pages, at)`: when they may be programmed. `current(lpn)`: the page's unit, or none.
/// `adopt(lpn, unit, column, end)`: the unit, in that column, holds the newest version; its program ends at `end`. `follow(pages,
/// at)`: so many pages were placed, programmed from `at` on.
template <class Where, class Prepare, class Current, class Adopt, class Follow>
[[nodiscard]] FtlResult<Ftl::WrittenLine> write_rows(PageBlocks& blocks, const PagesToWrite& what, const Io& io, const Where& where,
                                                     const Prepare& prepare, const Current& current, const Adopt& adopt, const Follow& follow,
                                                     bool is_line) {
    const UnitGeometry& units = blocks.units();
    SimTime done = io.when;
    SimTime at = io.when;
    std::uint32_t i = 0;
    while (i < what.pages && !(is_line && i != 0)) {
        const Lpn lpn = what.lpn(i);
        const std::uint32_t most = std::min(what.pages - i, blocks.most_at_once());
        const auto prepared = prepare(i, most, at);
        if (!prepared) return std::unexpected(prepared.error());
        at = *prepared;
        const auto part = what.from.empty() ? what.from : what.from.subspan(std::size_t{i} * units.bytes_per_unit());
        const RowPlace place = where(i, most);
        const auto each = what.each.empty() ? what.each : what.each.subspan(i);
        const auto placed = blocks.write_row(
            {{lpn, place.run.pages, part, each}, PageKind::data, place.run.frontier, i, place.of, place.group, place.is_wish, place.can_wait},
            io.at(at));
        if (!placed) return std::unexpected(placed.error());
        for (std::uint32_t k = 0, copies = placed->behind, in_row = placed->row; k < placed->count; in_row += placed->depth) {
            for (const OpenColumn& column : placed->columns) {
                for (std::uint32_t row = in_row; row != in_row + placed->depth && k < placed->count; ++row) {
                    if (copies != 0) {
                        --copies;
                        continue;
                    }
                    const Lpn written = what.lpn(i + k++);
                    const UnitId unit = units.unit_at(column.block, row);
                    if (const auto old = current(written)) blocks.invalidate(*old, placed->end);
                    blocks.validate(unit);
                    adopt(written, unit, column, placed->end);
                }
            }
        }
        i += placed->count;
        done = std::max(done, placed->end);
        if (const auto followed = follow(placed->count, at); !followed) return std::unexpected(followed.error());
        if (!blocks.has_failed_blocks()) continue;
        if (const auto retired = blocks.retire_failed(io.when); !retired) return std::unexpected(retired.error());
    }
    return Ftl::WrittenLine{done, i};
}

} // namespace flashlab
