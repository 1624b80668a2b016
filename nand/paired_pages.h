/// Which pages of a block share cells. A program that is cut in the middle damages the earlier pages that share its cells (T6).
///
/// Idea       A word line of cells with n bits holds n pages, programmed in passes. As on real chips the passes of neighbouring word lines are
///            staggered, so that a line's last pass comes when its neighbour disturbs it least: pass j of line w comes in step w + j.
///              MLC, 8 pages:  L0 L1 U0 L2 U1 L3 U2 U3        TLC, 9 pages:  L0 L1 M0 L2 M1 U0 M2 U1 U2
///            Pages that fill no line (256 = 85 x 3 + 1) come last and share cells with nobody.
/// Invariant  A page shares cells with earlier pages of its own line only. SLC pages share cells with no other page.
/// Cost       A few words a page of one block; a lookup is an index.
/// Power cut  nand_cut.cpp asks here which pages a cut program damages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nand/geometry.h"

namespace flashlab {

class PairedPages {
public:
    explicit PairedPages(const GeometryConfig& geometry);

    /// The earlier pages of the block that are damaged when the program of this one is cut.
    [[nodiscard]] std::span<const std::uint32_t> endangered_by(std::uint32_t page) const {
        return std::span{endangered_}.subspan(first_[page], first_[page + 1] - first_[page]);
    }
    /// In which pass over its word line the page is programmed: 0 is the first. Pages that fill no line: 0.
    [[nodiscard]] std::uint32_t pass_of(std::uint32_t page) const { return first_[page + 1] - first_[page]; }
    /// The last page whose program endangers this one; the page itself where none does.
    [[nodiscard]] std::uint32_t safe_after(std::uint32_t page) const { return safe_after_[page]; }

private:
    std::vector<std::uint32_t> first_; ///< by page: where its list begins in endangered_
    std::vector<std::uint32_t> endangered_;
    std::vector<std::uint32_t> safe_after_;
};

} // namespace flashlab
