/// The mean of the last intervals.
///
/// Idea       Each interval before counts an eighth less than the one after it: some eight intervals. Merges come in bursts: one interval in which a
///            longer log saves 150 and the next thirty in which it saves none.
/// Cost       A handful of multiplications an interval.
/// Source     Ours.
#pragma once

namespace flashlab {

class RecentMean {
public:
    void add(double sample) {
        sum_ = sum_ * kept + sample;
        weight_ = weight_ * kept + 1;
    }
    [[nodiscard]] double value() const { return weight_ > 0 ? sum_ / weight_ : 0; }

private:
    static constexpr double kept = 7.0 / 8;
    double sum_ = 0, weight_ = 0;
};

} // namespace flashlab
