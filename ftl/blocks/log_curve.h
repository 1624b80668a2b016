/// How many merges a log of shared log blocks would need, at each of a row of lengths: numbers only.
///
/// Idea       Log blocks are a queue. In a log of n pages a logical block is merged when the oldest of its newest versions has n log pages behind it,
///            and all of its pages that are logged by then go along. So the time of each newest version, and for each length the time until which
///            pages are merged, tell exactly what each log would do. Logical blocks are a sample by hash, as many as there is room for; each stands
///            for those beside it. All lengths hear of the same writes: what a log is told depends on the buffer before it, not on itself.
/// Invariant  W1 the records take no more than their bytes. W2 each logical block is of the sample.
/// Cost       4 bytes a logical block, 2 a length and 3 a page of it, in the device that it models. A write to one that is sampled: a step for each
///            length and logged page of it.
/// Power cut  Lost; it is a statistic.
/// Source     Ours. The paper of the partition (AP5) counts pages that were migrated, and takes them for what a longer log would have held.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ftl/blocks/block_map.h"

namespace flashlab {

class LogCurve {
public:
    /// `lengths` in log pages, none smaller than the one before.
    LogCurve(std::vector<std::uint64_t> lengths, std::uint64_t bytes);

    /// A page goes to a shared log block.
    void logged(LogicalBlock home, std::uint32_t offset);
    /// Nothing of it is logged any more, whatever the length.
    void merged_for_all(LogicalBlock home);
    /// Merges since the last call, added to `merges`: one for each length. How many logical blocks one of the sample stands for.
    double take(std::span<double> merges);
    [[nodiscard]] std::uint64_t bytes_used() const { return homes_.size() * home_bytes() + pages_ * page_bytes; }
    [[nodiscard]] bool is_sampled(LogicalBlock home) const { return (hash(home.value()) >> 20 & (weight_ - 1)) == 0; }

private:
    using Clock = std::uint64_t; ///< log pages written
    static constexpr std::uint64_t page_bytes = 3;
    struct Page {
        std::uint32_t offset = 0;
        Clock written = 0;
    };
    struct Home {
        std::uint32_t home = 0;
        Clock due = 0;            ///< before then nothing is merged at any length
        std::vector<Page> pages;  ///< newest versions that some length has not merged
        std::vector<Clock> until; ///< by length: what was written until then is merged
    };
    [[nodiscard]] static std::uint64_t hash(std::uint32_t home) { return (home + std::uint64_t{1}) * 0x9e3779b97f4a7c15u; }
    [[nodiscard]] std::uint64_t home_bytes() const { return 4 + 2 * lengths_.size(); }
    void settle(Home& home);
    void remove(std::size_t at);
    void sample_fewer();

    std::vector<std::uint64_t> lengths_;
    std::uint64_t bytes_;
    std::uint64_t weight_ = 1; ///< logical blocks that one of the sample stands for; a power of two
    Clock now_ = 1;
    std::uint64_t pages_ = 0;
    std::vector<Home> homes_;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_; ///< never iterated
    std::vector<double> merges_;
};

} // namespace flashlab
