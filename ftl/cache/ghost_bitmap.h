/// The ghost mapping cache: mapping entries that a larger mapping cache would still hold, as bits of one hash.
///
/// Idea       An evicted entry sets the bit of its hash; a miss that finds its bit set is a hit and resets it, since the entry is cached again. What
///            must go goes at random: a set bit is reset. Collisions make fewer bits than entries: while bits x 3 < entries, only the number of
///            entries shrinks.
///            An entry that never was here finds a bit set by chance, in a full bitmap every second time. For a scheme that asks (dftl), a hit
///            counts for what it says beyond chance, and a miss for as much less: the sum is right in the mean. Where one flash operation serves
///            several entries (a translation page is read once for a request), it would have been saved only with all of them here: together they
///            are one hit, or none.
/// Invariant  M1 size() <= capacity(). M2 bits_set() is the number of set bits, at most one for each entry that came and did not hit.
/// Cost       O(1) a call; a reset looks at words from a random one on until one has a set bit. The bitmap is the device's: charged to its DRAM.
/// Power cut  Lost; it is a statistic.
/// Source     AP2; Shim et al., section IV A (alpha = 3). The bit that goes is the next set one after a random place: nearly uniform,
///            and O(1). What goes beyond chance, and together, is ours: the paper counts each set bit.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "ftl/cache/ghost_buffer.h"

namespace flashlab {

class GhostBitmap {
public:
    static constexpr std::uint64_t alpha = 3;

    /// `bytes` is a power of two, at least 8.
    GhostBitmap(std::uint64_t bytes, std::uint64_t seed);

    [[nodiscard]] std::uint64_t size() const { return size_; } ///< entries that it stands for
    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
    [[nodiscard]] std::uint64_t bits_set() const { return bits_; }
    void set_capacity(std::uint64_t entries);
    void evicted(std::uint32_t key);
    /// Misses that one flash operation serves.
    class Together {
        friend class GhostBitmap;
        bool are_all_here_ = true;
        double by_chance_ = 1; ///< how likely all of them seem to be here though none is
    };
    void join(Together& misses, std::uint32_t key);
    /// Counted for what they say beyond chance.
    void missed_read(const Together& misses) { reads_ += beyond_chance(misses); }
    void missed_write(const Together& misses) { writes_ += beyond_chance(misses); }
    /// Counted as the paper does: each bit that is found set.
    void missed_read(std::uint32_t key) { reads_ += take(key) ? 1 : 0; }
    void missed_write(std::uint32_t key) { writes_ += take(key) ? 1 : 0; }
    [[nodiscard]] bool holds(std::uint32_t key) const { return ((words_[place(key) / 64] >> place(key) % 64) & 1) != 0; }
    [[nodiscard]] GhostHits hits() const;
    void clear_hits() { reads_ = writes_ = 0; }
    /// The number of the first broken invariant; 0 when all hold. O(bits).
    [[nodiscard]] int broken_invariant() const;

private:
    [[nodiscard]] std::size_t place(std::uint32_t key) const { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_); }
    [[nodiscard]] static double beyond_chance(const Together& misses);
    bool take(std::uint32_t key);
    void drop_one();

    std::vector<std::uint64_t> words_;
    int shift_;
    Random random_;
    std::uint64_t capacity_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t bits_ = 0;
    double reads_ = 0, writes_ = 0; ///< hits beyond chance
};

} // namespace flashlab
