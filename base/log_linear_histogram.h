/// How often values came, in buckets that grow with the value: percentiles without keeping the values.
///
/// Idea       A value below 2^step_bits has a bucket of its own. Above, each power of two is divided into 2^step_bits equal buckets.
/// Invariant  Every value lies in exactly one bucket. The answer for a rank is at least the exact value, exceeds it by less than a 2^step_bits-th
///            part of it, and never exceeds the largest value. Values in another order give the same answers.
/// Cost       A bit scan and an increment a value; 8 bytes a bucket, (65 - step_bits) * 2^step_bits buckets: 8 KiB with 4 bits, 15 KiB with 5, 58 KiB
///            with 7. An answer walks the buckets.
/// Source     The bucket rule of Tene's HdrHistogram.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flashlab {

template <unsigned step_bits>
class LogLinearHistogram {
public:
    void add(std::uint64_t value) {
        ++buckets_[bucket_of(value)];
        ++count_;
        max_ = std::max(max_, value);
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t max() const { return max_; }
    /// The value of a rank, 1 being the smallest: the top of its bucket. The largest value for a rank above count(), 0 when nothing was added.
    [[nodiscard]] std::uint64_t at_rank(std::uint64_t rank) const {
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            seen += buckets_[bucket];
            if (seen >= rank && seen != 0) return std::min(max_, top_of(bucket));
        }
        return max_;
    }
    /// The smallest value that at least so many of a thousand values do not exceed (nearest rank).
    [[nodiscard]] std::uint64_t permille(std::uint32_t of_a_thousand) const {
        return at_rank(std::max<std::uint64_t>(1, (count_ * of_a_thousand + 999) / 1000));
    }

private:
    static constexpr std::uint64_t steps = std::uint64_t{1} << step_bits;
    static constexpr std::size_t bucket_count = (64 - step_bits + 1) << step_bits;

    static constexpr std::size_t bucket_of(std::uint64_t value) {
        if (value < steps) return value;
        const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1 - step_bits;
        return ((octave + std::size_t{1}) << step_bits) + static_cast<std::size_t>((value >> octave) - steps);
    }
    static constexpr std::uint64_t top_of(std::size_t bucket) {
        if (bucket < steps) return bucket;
        const std::size_t octave = (bucket >> step_bits) - 1;
        const std::uint64_t first = (steps + (bucket & (steps - 1))) << octave;
        return first + ((std::uint64_t{1} << octave) - 1);
    }

    std::vector<std::uint64_t> buckets_ = std::vector<std::uint64_t>(bucket_count);
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

} // namespace flashlab
