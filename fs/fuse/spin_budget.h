/// Whether looking for the next request, instead of sleeping for it, has paid lately.
///
/// Idea       A program that works on files sends its next request some microseconds after an answer; to sleep and be woken costs two interrupts between
///            processors, on a virtual machine 10 to 20 us. Looking costs processor time that others may want, so each failure doubles the number of requests
///            for which it is not tried again: on a lone processor, where the program cannot run while we look, it soon costs nothing.
/// Invariant  After n failures in a row at most one request in 2^min(n, 10) looks.
/// Cost       Two integers.
/// Power cut  Keeps nothing.
#pragma once

#include <algorithm>
#include <chrono>

namespace flashlab {

class SpinBudget {
public:
    /// Longer than a program's usual pause between two calls, shorter than what anybody notices.
    static constexpr std::chrono::microseconds longest{50};

    [[nodiscard]] bool may_spin() {
        if (skip_ == 0)
            return true;
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
