#include "ftl/cache/ghost_bitmap.h"

#include <algorithm>
#include <bit>

#include "base/contract.h"

namespace flashlab {

GhostBitmap::GhostBitmap(std::uint64_t bytes, std::uint64_t seed) : words_(bytes / 8), shift_{64 - std::countr_zero(bytes * 8)}, random_{seed} {
    ensure(std::has_single_bit(bytes) && bytes >= 8, "a ghost bitmap has a power of two of bytes");
}

void GhostBitmap::set_capacity(std::uint64_t entries) {
    capacity_ = entries;
    while (size_ > capacity_) drop_one();
}

void GhostBitmap::evicted(std::uint32_t key) {
    if (capacity_ == 0) return;
    if (size_ == capacity_) drop_one();
    ++size_;
    const std::size_t at = place(key);
    const std::uint64_t mask = std::uint64_t{1} << at % 64;
    bits_ += (words_[at / 64] & mask) == 0 ? 1 : 0;
    words_[at / 64] |= mask;
}

void GhostBitmap::join(Together& misses, std::uint32_t key) {
    misses.by_chance_ *= static_cast<double>(bits_) / static_cast<double>(words_.size() * 64);
    misses.are_all_here_ = take(key) && misses.are_all_here_;
}

/// Of h hits in n misses, each of which hits by chance with p, (h - n p) / (1 - p) are hits of entries that are here.
double GhostBitmap::beyond_chance(const Together& misses) {
    constexpr double says_nothing = 0.95;
    if (misses.by_chance_ > says_nothing) return 0;
    return ((misses.are_all_here_ ? 1.0 : 0.0) - misses.by_chance_) / (1 - misses.by_chance_);
}

GhostHits GhostBitmap::hits() const {
    const auto whole = [](double hits) { return static_cast<std::uint64_t>(std::max(0.0, hits) + 0.5); };
    return {whole(reads_), whole(writes_)};
}

bool GhostBitmap::take(std::uint32_t key) {
    const std::size_t at = place(key);
    const std::uint64_t mask = std::uint64_t{1} << at % 64;
    if ((words_[at / 64] & mask) == 0) return false;
    words_[at / 64] &= ~mask;
    --bits_;
    --size_; // M2: there was an entry for this bit
    return true;
}

void GhostBitmap::drop_one() {
    --size_;
    if (bits_ * alpha < size_) return; // so few because entries share bits
    if (bits_ == 0) return;
    std::size_t at = static_cast<std::size_t>(random_.below(words_.size() * 64));
    std::uint64_t word = words_[at / 64] & (~std::uint64_t{0} << at % 64);
    for (at /= 64; word == 0; word = words_[at]) at = at + 1 == words_.size() ? 0 : at + 1;
    words_[at] &= ~(word & (~word + 1));
    --bits_;
}

int GhostBitmap::broken_invariant() const {
    if (size_ > capacity_) return 1;
    std::uint64_t bits = 0;
    for (const std::uint64_t word : words_) bits += static_cast<std::uint64_t>(std::popcount(word));
    return bits == bits_ && bits_ <= size_ ? 0 : 2;
}

} // namespace flashlab
