#include "pram/pram_line_checks.h"

#include <algorithm>
#include <array>

#include "base/crc32c.h"

namespace flashlab {

namespace {

/// The CRC of a line of zeros. It is taken off every sum, so that a line of zeros has the sum zero.
std::uint32_t zero_line() {
    static constexpr std::array<std::byte, pram_line_bytes> zeros{};
    static const std::uint32_t sum = crc32c(zeros);
    return sum;
}

} // namespace

std::uint32_t PramLineChecks::sum_of(std::uint64_t line) const {
    return crc32c(cells_.subspan(line * pram_line_bytes, pram_line_bytes)) ^ zero_line();
}

void PramLineChecks::settle_mark() {
    const std::uint64_t first = mark_.lines >> count_bits;
    const std::uint64_t count = mark_.lines & most_marked;
    if (mark_.lines != 0 && mark_.check == check_of(mark_.lines) && first < sums_.size()) {
        for (std::uint64_t line = first; line < std::min<std::uint64_t>(first + count, sums_.size()); ++line) sums_[line] = sum_of(line);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mark_ = {};
}

std::vector<std::uint64_t> PramLineChecks::damaged(std::uint64_t first, std::uint64_t end, std::size_t most) const {
    std::vector<std::uint64_t> found;
    for (std::uint64_t line = first; line < end && found.size() < most; ++line) {
        if (sums_[line] != sum_of(line)) found.push_back(line);
    }
    return found;
}

} // namespace flashlab
