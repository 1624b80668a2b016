/// A short sequence of writes that leaves a drive as a long random load would: preconditioning in one pass over the flash.
///
/// Idea       What a collection or a merge will do depends on how many pages of each age are still the newest version. It does not depend on which
///            pages these are. A model of the long load gives the number of live pages of each age. Then every place of the flash is written once, in
///            order of age. The pages that are to stay alive are written in random order, each for its last time. Between them pages are written
///            whose last time is still to come.
/// Invariant  Every page of the span is written for the last time exactly once (page_map_ages). Each stale version is older than the live one.
/// Cost       O(1) and two permutation look-ups a write, without a table. The models keep a few hundred numbers.
/// Source     The model of a page map is the FIFO queue of Desnoyers, "Analytic Models of SSD Write Performance", ToS 2014. Greedy collection of a
///            uniform load takes blocks nearly in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/workloads/random_distribution.h"

namespace flashlab {

/// A number of pages written one after the other, and how many of them are still alive at the end.
struct AgeSegment {
    std::uint64_t pages = 0;
    std::uint64_t live = 0;
};

/// The segments, oldest first, of this load: `span` pages are written in order, then `overwrites` pages at random. `places` pages fit on the flash
/// before
/// the oldest must be collected. Empty when everything fits: then no write can be left out.
[[nodiscard]] std::vector<AgeSegment> page_map_ages(std::uint64_t span, std::uint64_t places, std::uint64_t overwrites);
/// The same for a log of `places` pages in front of data blocks. The log is emptied from its oldest block on, by merging every data block that has a
/// live
/// page there. The segments are what such a log holds when it is full and old.
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
    std::uint64_t span_, begin_; ///< begin_: the place in the order where it begins, from the seed
    Random random_;
    std::size_t segment_ = 0;
    std::uint64_t last_times_ = 0; ///< number of pages that are written for a last time
    std::uint64_t done_ = 0;       ///< how many of these are written already
};

} // namespace flashlab
