/// When a run's figures say less than they seem to: one rule for the run's own warnings and for the page of its log.
///
/// Cost       Nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace flashlab {

/// Reads of what holds nothing take no flash read: latencies look better than they are.
[[nodiscard]] constexpr bool reads_much_of_nothing(std::uint64_t unmapped, std::uint64_t pages) { return unmapped * 100 > pages; }

/// Of `came` pages that were put into the write buffer, `left` are programmed, or gone: how many write amplification does not know of yet. 0: too few
/// to say.
[[nodiscard]] constexpr std::uint64_t pages_still_buffered(std::uint64_t came, std::uint64_t left) {
    const std::uint64_t stay = came - std::min(came, left);
    return stay * 20 > came ? stay : 0;
}

/// Write amplification is then that of the writes before.
[[nodiscard]] constexpr bool wrote_little(double written_bytes, double drive_bytes) { return written_bytes * 50 < drive_bytes; }

} // namespace flashlab
