/// What blocks are in each mode: pages, times, endurance.
///
/// Idea       An erase chooses how many bits a block's cells hold from then on: as many as they can, or fewer, which is faster and lasts longer. Such
///            a block has fewer pages: in SLC mode a third of TLC's.
/// Invariant  Media::of() answers for every mode; one that the chips do not have, has() says, is as the cells' own.
/// Cost       An index.
/// Power cut  A block's mode lies in its block record (nand/FORMAT.md).
/// Source     "Dynamic" SLC caches of consumer drives fold blocks in SLC mode into TLC or QLC (Micron, "Optimized Client Computing With Dynamic Write
///            Acceleration", 2014).
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "nand/nand_config.h"

namespace flashlab {

struct Medium {
    std::uint32_t pages = 0; ///< of a block
    Duration page_read{0};
    Duration page_program{0};
    std::vector<Duration> program_times{}; ///< by page in its block; empty: page_program for all
    Duration block_erase{0};
    std::uint32_t endurance_cycles = 0;

    [[nodiscard]] Duration program_of(std::uint32_t page) const { return program_times.empty() ? page_program : program_times[page]; }
};

class Media {
public:
    explicit Media(const NandConfig& config);
    [[nodiscard]] const Medium& of(CellType mode) const { return media_[std::to_underlying(mode)]; }
    [[nodiscard]] bool has(CellType mode) const { return has_[std::to_underlying(mode)]; }
    [[nodiscard]] CellType own() const { return own_; }
    [[nodiscard]] const Medium& own_medium() const { return of(own_); }
    /// Blocks have no mode but the cells' own.
    [[nodiscard]] bool is_single() const { return is_single_; }
    /// The shortest work of cells in any mode.
    [[nodiscard]] Duration shortest() const;

private:
    CellType own_;
    std::array<Medium, 4> media_{}; ///< by CellType
    std::array<bool, 4> has_{};
    bool is_single_ = true;
};

} // namespace flashlab
