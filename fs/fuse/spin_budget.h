/// Decides whether to spin for the next request, instead of sleeping, by whether spinning has paid lately.
///
/// Idea       A program that works on files sends its next request some microseconds after an answer. To sleep and be woken costs two interrupts
///            between processors, on a virtual machine 10 to 20 us. Spinning costs processor time that others may want. So each failure doubles the
///            number of requests for which it is not tried again.
///            On a single processor, where the program cannot run while we spin, it soon costs nothing.
/// Invariant  After n failures in a row we spin for at most one request in 2^min(n, 10).
/// Cost       Two integers.
#pragma once

#include <algorithm>
#include <chrono>

namespace flashlab {

class SpinBudget {
public:
    /// Longer than a program's usual pause between two calls, shorter than what anybody notices.
    static constexpr std::chrono::microseconds longest{50};

    [[nodiscard]] bool may_spin() {
        if (skip_ == 0) return true;
        --skip_;
        return false;
    }
    void succeeded() { failures_ = 0; }
    void failed() {
        failures_ = std::min(failures_ + 1, 10u);
        skip_ = (1u << failures_) - 1;
    }

private:
    unsigned failures_ = 0;
    unsigned skip_ = 0;
};

} // namespace flashlab
