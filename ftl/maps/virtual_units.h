/// Virtual unit numbers: units that are handed out one after the other have neighbouring numbers, on whatever plane and die they lie.
///
/// Idea       A lane is one frontier of one die; it counts the units that were handed out there (position), superblock after superblock. A new
///            superblock begins at the position that the other dies have reached: what is striped over them lies at equal positions. A number takes
///            the dies in turn, `chunk` units of each: rows where requests are long, single units where they are short.
/// Invariant  V1 superblocks of one lane do not overlap. V2 unit_at(place_of(u)) == u for each unit of a superblock that was opened since the mount
///            and whose block was not erased.
/// Cost       A binary search in the superblocks of a die. Of the device: bytes_a_block each (its superblock, and what it is the column of),
///            bytes_a_superblock each (first position, and the order of a die's).
/// Power cut  RAM only: units written before the mount have no number.
/// Source     Wang et al., "LearnedFTL", HPCA 2024 ("virtual PPN"). There the bits of an address are put in another order, since a superblock takes
///            the same block of each plane; here planes and dies open their blocks apart.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ftl/blocks/page_blocks.h"

namespace flashlab {

class VirtualUnits {
public:
    static constexpr std::uint32_t bytes_a_block = 8, bytes_a_superblock = 12;
    struct Place {
        std::uint32_t frontier = 0;
        std::uint32_t turn = 0; ///< of its die
        std::uint64_t position = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };

    /// `blocks` lives as long.
    explicit VirtualUnits(const PageBlocks& blocks);

    /// A superblock is about to be written.
    void opened(const OpenSuperblock& set);
    void erased(BlockId block);
    /// None: not opened since the mount, or not for data.
    [[nodiscard]] std::optional<Place> place_of(UnitId unit) const;
    [[nodiscard]] std::optional<UnitId> unit_at(const Place& place) const;

    /// What a number may count of each die before it goes on to the next; the last one never goes on.
    [[nodiscard]] std::span<const std::uint64_t> chunks() const { return chunks_; }
    [[nodiscard]] std::uint64_t number(const Place& place, std::uint64_t chunk) const {
        return (place.position / chunk * dies_ + place.turn) * chunk + place.position % chunk;
    }
    [[nodiscard]] Place place(std::uint32_t frontier, std::uint64_t number, std::uint64_t chunk) const {
        const std::uint64_t row = number / chunk;
        return {frontier, static_cast<std::uint32_t>(row % dies_), row / dies_ * chunk + number % chunk};
    }
    /// Units that all dies take of a long request before any takes more.
    [[nodiscard]] std::uint64_t stripe() const { return row_ * dies_; }
    /// Of them, one die's.
    [[nodiscard]] std::uint32_t row() const { return static_cast<std::uint32_t>(row_); }
    [[nodiscard]] GroupId group_at(std::uint32_t turn) const { return group_at_[turn]; }
    [[nodiscard]] std::uint64_t device_bytes() const {
        return std::uint64_t{bytes_a_block} * set_of_.size() + std::uint64_t{bytes_a_superblock} * (set_of_.size() / planes_);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Set {
        std::uint64_t first = 0; ///< position
        std::uint32_t units = 0, columns = 0, depth = 1;
        std::uint32_t lane = 0;
        std::uint32_t blocks = 0; ///< not erased
    };
    struct Lane {
        std::vector<std::uint32_t> sets; ///< by first position
        std::uint64_t end = 0;
        std::uint64_t first = 0; ///< of the superblock opened last
        std::uint32_t stamp = 0; ///< of it
    };
    [[nodiscard]] std::uint32_t lane_of(std::uint32_t frontier, std::uint32_t turn) const { return frontier * dies_ + turn; }
    [[nodiscard]] std::uint64_t reached(std::uint32_t lane) const;
    [[nodiscard]] std::uint64_t first_of_next(std::uint32_t frontier, std::uint32_t turn) const;
    [[nodiscard]] std::span<const std::uint32_t> columns_of(std::uint32_t set) const {
        return std::span{columns_}.subspan(std::size_t{set} * planes_, sets_[set].columns);
    }

    const PageBlocks& blocks_;
    const std::uint32_t planes_, dies_;
    std::uint64_t row_; ///< units that one die takes of a long request
    std::vector<std::uint64_t> chunks_;
    std::vector<std::uint32_t> turn_of_; ///< by group
    std::vector<GroupId> group_at_;      ///< by turn
    std::vector<Lane> lanes_;
    std::vector<Set> sets_;
    std::vector<std::uint32_t> unused_;  ///< of sets_
    std::vector<std::uint32_t> columns_; ///< blocks, so many a set as a die has planes
    std::vector<std::uint32_t> set_of_;  ///< by block
};

} // namespace flashlab
