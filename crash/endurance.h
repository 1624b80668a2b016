/// Power cuts in a row on one image: does anything wear away?
///
/// Idea       A round is a few requests, a cut at a random instant, and sometimes another cut during recovery. Rounds are repeated on the same cells
///            as often as wanted. After each cut the device is judged. Now and then it is filled to the last page: a device that leaks blocks cannot
///            be filled for long (C7).
/// Invariant  The free blocks of a full, flushed device after cuts stay as many as the first time, within a margin. A leaked block is missing in
///            every later fill; a block that a cut left half filled is not.
/// Cost       About 30 microseconds a cut on a tiny device.
/// Power cut  Makes many.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "crash/sabotage.h"

namespace flashlab {

struct EnduranceReport {
    std::uint64_t cuts = 0;
    std::uint64_t cuts_of_recovery = 0;
    std::uint64_t fills = 0;
    std::uint32_t least_free_blocks = 0;             ///< after a cut on a full device; garbage included
    std::uint32_t first_free_blocks = 0;             ///< the same, the first time
    std::array<std::uint32_t, 3> last_free_blocks{}; ///< the same, the last times, in no order
    /// The margin. Blocks that are open at a cut (host, collection, translation pages) are closed half filled,
    /// so a difference of so many blocks means nothing.
    static constexpr std::uint32_t frontiers = 3;
    [[nodiscard]] bool leaks() const { return std::ranges::max(last_free_blocks) + frontiers < first_free_blocks; }
    std::uint64_t erases = 0; ///< over all blocks
    std::uint64_t host_pages_written = 0;
    std::uint64_t most_pages_scanned = 0; ///< by one recovery
};

/// The error says what was found and at which cut; the same seed finds it again. `go_on` is asked every thousand cuts; false ends it.
[[nodiscard]] std::expected<EnduranceReport, std::string> endure_cuts(const std::string& scheme, const std::string& device, std::uint64_t cuts,
                                                                      std::uint64_t seed, Sabotage* sabotage = nullptr,
                                                                      const std::function<bool(const EnduranceReport&)>& go_on = {});

} // namespace flashlab
