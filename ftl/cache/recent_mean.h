/// The mean of the last intervals, and how far off it may be.
///
/// Idea       Each interval before counts an eighth less than the one after it: some eight intervals. How unlike they were says how much of the mean
///            is chance: merges come in bursts, one interval in which a longer log saves 150 and the next thirty in which it saves none.
/// Cost       A handful of multiplications an interval.
/// Source     Ours. The squared error is that of a weighted mean: variance / (weights^2 / squared weights - 1).
#pragma once

#include <algorithm>

namespace flashlab {

class RecentMean {
public:
    void add(double sample) {
        sum_ = sum_ * kept + sample;
        squares_ = squares_ * kept + sample * sample;
        weight_ = weight_ * kept + 1;
        squared_weights_ = squared_weights_ * kept * kept + 1;
    }
    [[nodiscard]] double value() const { return weight_ > 0 ? sum_ / weight_ : 0; }
    /// Of value(); nothing while there is one sample.
    [[nodiscard]] double squared_error() const {
        if (weight_ <= 0) return 0;
        const double samples = weight_ * weight_ / squared_weights_;
        return std::max(squares_ / weight_ - value() * value(), 0.0) / std::max(samples - 1, 1.0);
    }

private:
    static constexpr double kept = 7.0 / 8;
    double sum_ = 0, squares_ = 0;
    double weight_ = 0, squared_weights_ = 0;
};

} // namespace flashlab
