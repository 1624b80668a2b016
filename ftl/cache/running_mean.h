/// A mean that forgets: each sample counts a 64th, the first one whole.
///
/// Cost       A multiplication a sample.
/// Source     AP4: "average", no window given. 64 collections or batch updates: long beside one odd victim, short beside a phase of a load.
#pragma once

namespace flashlab {

class RunningMean {
public:
    void add(double sample) {
        mean_ = is_empty_ ? sample : mean_ + (sample - mean_) / window;
        is_empty_ = false;
    }
    [[nodiscard]] double value_or(double when_empty) const { return is_empty_ ? when_empty : mean_; }

private:
    static constexpr double window = 64;
    double mean_ = 0;
    bool is_empty_ = true;
};

} // namespace flashlab
