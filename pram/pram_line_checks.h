/// A checksum for every 64 bytes of cells: the stand-in for the ECC that a PRAM module keeps for each line.
///
/// Idea       As the CRC in a page record stands for the parity in a flash page's spare bytes: the device writes it along with the words, at no word of its own.
///            Before cells change, their lines are named in a mark; when they have changed, their sums follow and the mark goes.
/// Invariant  Outside a change every line and its sum agree. All-zero lines have sum zero: a new image needs no writing.
/// Cost       4 bytes a line, 1/16 of the cells; a CRC of 64 bytes for each line touched and four stores a run. verify() reads every cell once.
/// Power cut  A killed process leaves at most the marked lines without their sums; settle_mark() gives them theirs. The word in flight is whatever the cut made it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace flashlab {

inline constexpr std::uint64_t pram_line_bytes = 64;
[[nodiscard]] constexpr std::uint64_t pram_lines(std::uint64_t bytes) { return bytes / pram_line_bytes; }

/// The lines that are changing; 16 bytes, zero: none.
struct PramChangeMark {
    std::uint64_t lines = 0; ///< first << 24 | count
    std::uint64_t check = 0; ///< a mark counts only with it: a flipped bit makes none
};

class PramLineChecks {
public:
    PramLineChecks(std::span<const std::byte> cells, std::span<std::uint32_t> sums, PramChangeMark& mark) : cells_{cells}, sums_{sums}, mark_{mark} {}

    /// Around every change of cells, within [at, at + bytes).
    void begin(std::uint64_t at, std::uint64_t bytes) {
        const std::uint64_t first = at / pram_line_bytes;
        const std::uint64_t count = (at + bytes - 1) / pram_line_bytes - first + 1;
        mark_.lines = first << count_bits | (count < most_marked ? count : most_marked);
        mark_.check = check_of(mark_.lines);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    void end(std::uint64_t at, std::uint64_t bytes) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const std::uint64_t last = (at + bytes - 1) / pram_line_bytes;
        for (std::uint64_t line = at / pram_line_bytes; line <= last; ++line) sums_[line] = sum_of(line);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        mark_.lines = 0;
        mark_.check = 0;
    }

    /// After a kill: the lines that were changing count as they are. Call before verify().
    void settle_mark();
    /// The lines of [first, end) whose sum does not hold, in order, at most `most`.
    [[nodiscard]] std::vector<std::uint64_t> damaged(std::uint64_t first, std::uint64_t end, std::size_t most) const;
    [[nodiscard]] std::uint64_t lines() const { return sums_.size(); }

private:
    static constexpr std::uint32_t count_bits = 24;
    static constexpr std::uint64_t most_marked = (std::uint64_t{1} << count_bits) - 1; ///< 1 GiB
    [[nodiscard]] static std::uint64_t check_of(std::uint64_t lines) { return ~lines * 0x9e3779b97f4a7c15; }
    [[nodiscard]] std::uint32_t sum_of(std::uint64_t line) const;

    std::span<const std::byte> cells_;
    std::span<std::uint32_t> sums_;
    PramChangeMark& mark_;
};

} // namespace flashlab
