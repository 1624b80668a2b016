/// A span of time in equal bins: amounts at instants, and time spent between instants.
///
/// Idea       A plot has a few hundred points, a log has millions of rows. Rows are added one by one and forgotten.
/// Invariant  What lies outside the span counts in the first or last bin (instants), or not at all (the part of a stretch that is outside).
/// Cost       A division a row; of a stretch one addition a bin that it touches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flashlab {

class TimeBins {
public:
    TimeBins(std::int64_t begin_ns, std::int64_t end_ns, std::size_t bins)
        : begin_{begin_ns}, width_{std::max<std::int64_t>(1, (std::max(end_ns, begin_ns) - begin_ns + static_cast<std::int64_t>(bins)) /
                                                                 static_cast<std::int64_t>(bins))},
          values_(bins) {}

    void add_at(std::int64_t at, double amount) { values_[bin_of(at)] += amount; }
    /// Adds the time from `from` to `to`, each bin's part to the bin.
    void add_stretch(std::int64_t from, std::int64_t to) {
        const std::int64_t all = width_ * static_cast<std::int64_t>(values_.size());
        from = std::max(from - begin_, std::int64_t{0});
        to = std::min(to - begin_, all);
        while (from < to) {
            const std::int64_t bin = from / width_;
            const std::int64_t stop = std::min(to, (bin + 1) * width_);
            values_[static_cast<std::size_t>(bin)] += static_cast<double>(stop - from);
            from = stop;
        }
    }
    [[nodiscard]] std::int64_t width_ns() const { return width_; }
    [[nodiscard]] const std::vector<double>& values() const { return values_; }

private:
    [[nodiscard]] std::size_t bin_of(std::int64_t at) const {
        const std::int64_t bin = at <= begin_ ? 0 : (at - begin_) / width_;
        return std::min(static_cast<std::size_t>(bin), values_.size() - 1);
    }
    std::int64_t begin_, width_;
    std::vector<double> values_;
};

} // namespace flashlab
