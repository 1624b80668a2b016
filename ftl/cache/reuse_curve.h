/// How often a least-recently-used cache would miss, at each of a row of sizes: numbers only.
///
/// Idea       Mattson's stack: in the order of last use an access finds its key at some depth, and every cache of at least that size would have hit.
///            The stack is cut where the sizes are, so a key knows the part it lies in, and an access moves one key over each cut above it, or as
///            many as its weight takes where keys are not of one size. Keys are a sample by hash, as many as there are records for; each stands for
///            those beside it (SHARDS).
/// Invariant  U1 the keys of the parts are the order of last use, and those up to a cut weigh no more than its size. U2 each key is of the sample,
///            and found once.
/// Cost       An access of a key that is not sampled: a multiplication. Of one that is: a look-up and a step for each cut above it. 12 bytes a record
///            in the device that it models, charged to its DRAM.
/// Power cut  Lost; it is a statistic.
/// Source     Mattson et al., "Evaluation techniques for storage hierarchies", 1970; Waldspurger et al., "Efficient MRC construction with SHARDS",
///            2015 (fixed rate).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace flashlab {

/// Misses at one size; parts of one where several keys share an operation.
struct MissCount {
    double reads = 0, writes = 0;
};

class ReuseCurve {
public:
    static constexpr std::uint32_t device_bytes_per_record = 12;                           ///< key and two links
    static constexpr std::uint32_t device_bytes_per_weighed = device_bytes_per_record + 4; ///< and its weight

    /// `sizes` in keys, none smaller than the one before.
    ReuseCurve(std::span<const std::uint64_t> sizes, std::uint64_t records);
    /// Keys of different weights, in which `sizes` are: none weighs less than `least`, and there are no more than `keys`.
    struct Weighed {
        std::uint32_t least = 1;
        std::uint64_t keys = 0;
    };
    ReuseCurve(std::span<const std::uint64_t> sizes, std::uint64_t records, const Weighed& weighed);

    [[nodiscard]] bool is_sampled(std::uint32_t key) const { return (key + std::uint64_t{1}) * 0x9e3779b97f4a7c15u >> 32 << 32 <= most_hash_; }
    /// `weight` of an operation. A cache that does not take in what is read only makes it young where it is. `weighs` 0: as the last time.
    void read(std::uint32_t key, double weight, bool takes_in, std::uint32_t weighs = 1);
    void write(std::uint32_t key, bool takes_in = true, std::uint32_t weighs = 1);
    /// Since the last call, added to `counts`: one for each size. How many keys one of the sample stands for.
    double take(std::span<MissCount> counts);
    [[nodiscard]] std::uint32_t records() const { return static_cast<std::uint32_t>(index_.size()); }
    /// The number of the first broken invariant; 0 when all hold. O(records).
    [[nodiscard]] int broken_invariant() const;

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    struct Node {
        std::uint32_t key = 0, newer = none, older = none, part = 0, weighs = 1;
    };
    struct Part {
        std::uint64_t size = 0;   ///< of this part and those before it
        std::uint64_t weighs = 0; ///< all of it
        std::uint32_t oldest = none;
        MissCount found; ///< accesses that found their key here
    };
    [[nodiscard]] std::uint32_t touch(std::uint32_t key, bool takes_in, std::uint32_t weighs);
    void unlink(std::uint32_t node);
    void push_newest(std::uint32_t node);

    std::vector<Part> parts_; ///< one for each size: what it holds beyond the one before
    std::uint32_t least_;     ///< that a key weighs
    bool is_weighed_;
    std::uint64_t most_hash_; ///< of the sample
    double each_stands_for_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> unused_;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_; ///< never iterated
    std::uint32_t newest_ = none;
    MissCount nowhere_;
};

} // namespace flashlab
