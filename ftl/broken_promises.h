/// Promises that a drive breaks, decided from outside: fault rules play the drives that lose data although the host did all that is right.
///
/// Idea       The drive asks at the point where it would keep its promise. Without such an object it keeps them all.
/// Invariant  What is answered and read is right as long as the power stays: only a cut shows a lie.
/// Cost       A predicted branch for each flush and FUA write when absent.
/// Power cut  Shows them. Only a volatile write buffer has something to lose (Ssd::can_lie()).
#pragma once

namespace flashlab {

class BrokenPromises {
public:
    virtual ~BrokenPromises() = default;
    /// This flush, or FUA of a write, is answered, and nothing is done for it.
    [[nodiscard]] virtual bool flush_lies() = 0;
    /// This flush leaves a page in the buffer until the next: what comes later is durable before it.
    [[nodiscard]] virtual bool order_lies() = 0;
    /// At this power cut the pages in the buffer reach the flash half: the rest, from the middle of a sector on, is as before.
    [[nodiscard]] virtual bool tears() = 0;
    /// What tears() would say now, asked by who looks for the instant of the cut.
    [[nodiscard]] virtual bool would_tear() const = 0;
};

} // namespace flashlab
