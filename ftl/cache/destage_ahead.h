/// Slots of a write buffer whose pages go to the flash before it is full: how many are free, when the next ones will be, and when a line may begin.
///
/// Idea       A drive behind capacitors answers from its buffer and keeps its dies busy with what has gathered there. A few lines are under way at a
///            time, so that reads find the dies' queues short. A newcomer takes a free slot, or waits for the first one that a line gives back.
/// Invariant  Slots held, free, and given back in the future are all slots. No more lines are under way than asked for.
/// Cost       A heap of the lines under way; no allocation once it has grown.
/// Power cut  RAM only.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/sim_time.h"

namespace flashlab {

/// How a buffer is emptied before it is full.
struct DestagePolicy {
    std::uint32_t lines = 0;                     ///< under way at once; 0: nothing is programmed before the buffer is full
    std::uint32_t from_permille = 0;             ///< of its slots: what it holds beyond them is programmed
    std::uint32_t throttle_from_permille = 1000; ///< of its slots: once more are taken, newcomers wait
    Duration throttle{0};                        ///< the longest such wait, when all are
};

class DestageAhead {
public:
    DestageAhead(std::uint32_t slots, const DestagePolicy& policy)
        : slots_{slots}, free_{slots}, throttle_from_{static_cast<std::uint32_t>(std::uint64_t{slots} * policy.throttle_from_permille / 1000)},
          lines_{policy.lines}, throttle_{policy.throttle} {}

    /// When a newcomer may have a slot; nothing when no slot is on its way back.
    [[nodiscard]] std::optional<SimTime> take(SimTime now) {
        while (!returns_.empty() && returns_.front().at <= now) {
            free_ += returns_.front().slots;
            drop_first_return();
        }
        if (free_ != 0) {
            --free_;
            return now;
        }
        if (returns_.empty()) return std::nullopt;
        const SimTime at = returns_.front().at;
        if (--returns_.front().slots == 0) drop_first_return();
        return at;
    }
    /// What the newcomer that has just taken a slot waits beside: the longer, the fuller the buffer is, so that hosts slow down before it is full.
    [[nodiscard]] Duration throttled() const {
        const std::uint32_t taken = slots_ - free_;
        return taken <= throttle_from_ ? Duration{0} : throttle_ * (taken - throttle_from_) / (slots_ - throttle_from_);
    }
    void give_back(std::uint32_t slots, SimTime at) {
        if (slots == 0) return;
        returns_.push_back({at, slots});
        std::ranges::push_heap(returns_, later, &Return::at);
    }
    /// When the next line may begin, once the time is `now`: then, or when one that is under way has ended.
    [[nodiscard]] SimTime next_begin(SimTime now) {
        while (!ends_.empty() && ends_.front() <= now) drop_first_end();
        return ends_.size() < lines_ ? now : ends_.front();
    }
    void begun(SimTime end) {
        ends_.push_back(end);
        std::ranges::push_heap(ends_, later);
    }

private:
    struct Return {
        SimTime at;
        std::uint32_t slots = 0;
    };
    static constexpr std::greater<SimTime> later{};
    void drop_first_return() {
        std::ranges::pop_heap(returns_, later, &Return::at);
        returns_.pop_back();
    }
    void drop_first_end() {
        std::ranges::pop_heap(ends_, later);
        ends_.pop_back();
    }

    std::uint32_t slots_, free_, throttle_from_, lines_;
    Duration throttle_;
    std::vector<Return> returns_; ///< a heap, the first on top
    std::vector<SimTime> ends_;   ///< of the lines under way, the same
};

} // namespace flashlab
