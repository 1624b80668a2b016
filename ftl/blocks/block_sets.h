/// Physical block sets: one block on each of some channels, used and erased together; a page set is the same page of each of them.
///
/// Idea       A lane is a plane on each of `width` neighbouring channels, at the same chip, die and plane of its channel. The k-th set of a lane is
///            the k-th usable block of each of its planes. Sets are numbered across the lanes: neighbouring ids lie on different channels and planes.
///            On chips with two-plane commands (NandOptions::two_plane) a lane is a pair of planes on each of width / 2 channels: columns 2i and
///            2i + 1 are a pair at one block offset, so that one command reaches both (CO12).
/// Invariant  set_of(block(s, c)) == s; no block is in two sets; factory bad blocks and those set aside are in none.
/// Cost       4 bytes a block and 4 a set's block; O(1) each way.
/// Power cut  Keeps nothing: the same configuration gives the same sets.
/// Source     Chang et al., "An efficient FTL design for multi-chipped solid-state drives", III A (CO1).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nand/nand_config.h"

namespace flashlab {

using SetId = Id<struct SetTag, std::uint32_t>; ///< physical block set, device-wide

class BlockSets {
public:
    /// Columns that one command reaches: the planes of a pair.
    [[nodiscard]] static std::uint32_t planes_at_once(const NandConfig& nand) { return nand.options.two_plane ? 2 : 1; }
    /// Why there are no sets of this width.
    [[nodiscard]] static std::optional<std::string> refusal(const NandConfig& nand, const Geometry& geometry, std::uint32_t width);
    /// `width` divides the channels (with two-plane commands, half of it does); blocks in `set_aside` (a scheme's own log) stay out.
    BlockSets(const NandConfig& nand, const Geometry& geometry, std::uint32_t width, std::span<const BlockId> set_aside);
    /// How many there would be: for plans, without making them.
    [[nodiscard]] static std::uint32_t count_of(const NandConfig& nand, const Geometry& geometry, std::uint32_t width,
                                                std::span<const BlockId> set_aside);
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(blocks_.size()) / width_; }
    [[nodiscard]] std::uint32_t width() const { return width_; }
    [[nodiscard]] BlockId block(SetId set, std::uint32_t column) const { return blocks_[std::size_t{set.value()} * width_ + column]; }
    [[nodiscard]] std::span<const BlockId> blocks(SetId set) const { return std::span{blocks_}.subspan(std::size_t{set.value()} * width_, width_); }
    /// None: bad from the factory, set aside, or left over because another plane of its lane has fewer.
    [[nodiscard]] std::optional<SetId> set_of(BlockId block) const;

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    std::uint32_t width_;
    std::vector<BlockId> blocks_;       ///< width_ for each set
    std::vector<std::uint32_t> set_of_; ///< by block
};

} // namespace flashlab
