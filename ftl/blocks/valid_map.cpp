#include "ftl/blocks/valid_map.h"

#include <algorithm>

namespace flashlab {

ValidMap::ValidMap(const UnitGeometry& units)
    : units_{units}, words_per_row_{units.words_per_row()}, words_(std::size_t{units.words_per_row()} * units.geometry().blocks()),
      counts_(units.geometry().blocks()) {}

void ValidMap::set(UnitId unit) {
    ensure(word_of(unit) < words_.size(), "a unit lies within the device");
    std::uint64_t& word = words_[word_of(unit)];
    const std::uint64_t bit = std::uint64_t{1} << bit_of(unit);
    ensure((word & bit) == 0, "a unit becomes valid once");
    word |= bit;
    ++counts_[units_.block_of(unit).value()];
    ++total_;
}

void ValidMap::clear(UnitId unit) {
    ensure(word_of(unit) < words_.size(), "a unit lies within the device");
    std::uint64_t& word = words_[word_of(unit)];
    const std::uint64_t bit = std::uint64_t{1} << bit_of(unit);
    ensure((word & bit) != 0, "only a valid unit becomes invalid");
    word &= ~bit;
    --counts_[units_.block_of(unit).value()];
    --total_;
}

void ValidMap::load_row(BlockId block, std::span<const std::uint64_t> words) {
    ensure(words.size() == words_per_row_, "a row is as long as every row");
    std::uint32_t bits = 0;
    for (const std::uint64_t w : words) bits += static_cast<std::uint32_t>(std::popcount(w));
    if (bits == 0 && counts_[block.value()] == 0) return; // most rows of a large drive: the host need not touch them
    std::ranges::copy(words, words_.begin() + static_cast<std::ptrdiff_t>(std::size_t{block.value()} * words_per_row_));
    total_ = total_ - counts_[block.value()] + bits;
    counts_[block.value()] = bits;
}

std::uint32_t ValidMap::next_set(BlockId block, std::uint32_t index) const {
    const std::uint32_t end = units_.units_per_block();
    if (index >= end) return end;
    const auto words = row(block);
    std::uint32_t w = index / 64;
    std::uint64_t rest = words[w] & (~std::uint64_t{0} << (index % 64));
    while (rest == 0) {
        if (++w == words_per_row_) return end;
        rest = words[w];
    }
    return w * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
}

} // namespace flashlab
