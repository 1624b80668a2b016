/// A checksum for every 64 bytes of cells: the stand-in for the ECC that a PRAM module keeps for each line.
///
/// Idea       The device writes a line's sum together with its words, and no PRAM word is charged for it. In the same way the CRC in a page record
///            stands for the parity in a flash page's spare bytes. Before cells change, a mark names their lines. When the cells have changed, the
///            sums are written, then the mark is cleared.
/// Invariant  Outside a change every line agrees with its sum. The sum of an all-zero line is zero, so that a new image needs no writing.
/// Cost       4 bytes a line, 1/16 of the cells. A CRC of 64 bytes for each line touched, and four stores a run.
///            damaged() reads every cell in its range.
/// Power cut  A killed process leaves at most the marked lines without right sums. settle_mark() computes these anew. The word in flight has the
///            value that the cut gave it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace flashlab {

inline constexpr std::uint64_t pram_line_bytes = 64;
[[nodiscard]] constexpr std::uint64_t pram_lines(std::uint64_t bytes) { return bytes / pram_line_bytes; }

/// The mark that names the changing lines, 16 bytes. Zero: no line is changing.
struct PramChangeMark {
    std::uint64_t lines = 0; ///< first << 24 | count
    std::uint64_t check = 0; ///< a mark counts only if this matches: a flipped bit makes no mark
};

class PramLineChecks {
public:
    PramLineChecks(std::span<const std::byte> cells, std::span<std::uint32_t> sums, PramChangeMark& mark) : cells_{cells}, sums_{sums}, mark_{mark} {}

    /// begin() must precede, and end() must follow, every change of cells in [at, at + bytes).
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

    /// Repairs the sums after a kill: the marked lines get the sums of what they hold. Call it before damaged().
    void settle_mark();
    /// The lines of [first, end) whose sum is wrong, in order, `most` of them at most.
    [[nodiscard]] std::vector<std::uint64_t> damaged(std::uint64_t first, std::uint64_t end, std::size_t most) const;
    [[nodiscard]] std::uint64_t lines() const { return sums_.size(); }
    [[nodiscard]] std::span<const std::uint32_t> sums() const { return sums_; }

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
