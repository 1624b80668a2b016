/// A short load that leaves a drive as a long random one would: preconditioning in one pass over the flash.
///
/// Idea       What a collection or a merge will do next depends on which pages of which age are still the newest version, not on who they are. From a model of
///            the long load follows how many pages of each age are alive; then every place of the flash is written once, in order of age: the pages that are to
///            stay alive in random order, each once and for the last time; and between them pages whose last time is still to come.
/// Invariant  Every page of the span is written for the last time exactly once (page_map_ages), and each stale version is older than its live one.
/// Cost       O(1) and two permutation look-ups a write; no table. The models: a few hundred numbers.
/// Source     The model of a page map is the FIFO queue of Desnoyers, "Analytic Models of SSD Write Performance", ToS 2014; greedy collection of a uniform load
///            takes blocks nearly in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/workloads/random_distribution.h"

namespace flashlab {

/// So many pages written one after the other, of which so many are still alive at the end.
struct AgeSegment {
    std::uint64_t pages = 0;
    std::uint64_t live = 0;
};

/// Oldest first: `span` pages written in order, then `overwrites` at random, on a flash where `places` pages fit before the oldest must be collected.
/// Empty when everything fits: then nothing can be left out.
[[nodiscard]] std::vector<AgeSegment> page_map_ages(std::uint64_t span, std::uint64_t places, std::uint64_t overwrites);
/// The same for a log of `places` pages before data blocks, emptied from its oldest block on by merging every data block that has a live page there: what such
/// a log holds when it is full and old.
[[nodiscard]] std::vector<AgeSegment> shared_log_ages(std::uint64_t span, std::uint64_t places, std::uint64_t pages_per_block);

class AgedHistory {
public:
    AgedHistory(std::uint64_t span, std::vector<AgeSegment> ages, std::uint64_t seed);
    /// The next page to write.
    [[nodiscard]] std::optional<std::uint64_t> next();

private:
    [[nodiscard]] std::uint64_t page(std::uint64_t index) const { return order_.at((index + begin_) % span_); }

    std::vector<AgeSegment> ages_;
    ScatteredOrder order_;
    std::uint64_t span_, begin_;   ///< the order is entered where the seed says
    Random random_;
    std::size_t segment_ = 0;
    std::uint64_t last_times_ = 0; ///< pages with a last time, in all
    std::uint64_t done_ = 0;       ///< of these: written
};

} // namespace flashlab
