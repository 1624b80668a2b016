/// One bit a mapping unit and its sum a block: which units hold what somebody still wants.
///
/// Idea       Rows of 64-bit words, a row a block, so that a row is written to PRAM or walked word by word.
/// Invariant  count(b) is the number of set bits of row b; total() their sum. Setting a set bit, or clearing a clear one, is a ContractViolation.
/// Cost       1 bit a unit and 4 bytes a block; O(1) a change.
/// Power cut  Lives in RAM; a scheme that keeps a copy in PRAM says so.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "base/zeroed_allocator.h"
#include "ftl/blocks/unit_geometry.h"

namespace flashlab {

class ValidMap {
public:
    explicit ValidMap(const UnitGeometry& units);
    [[nodiscard]] bool test(UnitId unit) const { return ((words_[word_of(unit)] >> bit_of(unit)) & 1) != 0; }
    void set(UnitId unit);
    void clear(UnitId unit);
    [[nodiscard]] std::uint32_t count(BlockId block) const { return counts_[block.value()]; }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] std::span<const std::uint64_t> row(BlockId block) const {
        return std::span{words_}.subspan(std::size_t{block.value()} * words_per_row_, words_per_row_);
    }
    /// Replaces a row, e.g. by its copy from PRAM.
    void load_row(BlockId block, std::span<const std::uint64_t> words);
    /// The first set unit of the block at or after `index`; units_per_block when there is none.
    [[nodiscard]] std::uint32_t next_set(BlockId block, std::uint32_t index) const;
    /// Index of the word that holds the unit's bit, over all rows.
    [[nodiscard]] std::size_t word_of(UnitId unit) const {
        return std::size_t{units_.block_of(unit).value()} * words_per_row_ + units_.index_in_block(unit) / 64;
    }
    [[nodiscard]] std::uint64_t word(std::size_t index) const { return words_[index]; }

private:
    [[nodiscard]] std::uint32_t bit_of(UnitId unit) const { return units_.index_in_block(unit) % 64; }
    UnitGeometry units_;
    std::uint32_t words_per_row_;
    ZeroedVector<std::uint64_t> words_;
    std::vector<std::uint32_t> counts_;
    std::uint64_t total_ = 0;
};

} // namespace flashlab
