/// round-robin: each queue in turn, as NVMe's default arbitration.
#include <algorithm>

#include "ftl/host/turns.h"

namespace flashlab {

QueueId Turns::next(std::span<const WaitingQueue> waiting) {
    const auto same = std::ranges::find(waiting, last_, &WaitingQueue::queue);
    if (left_ != 0 && same != waiting.end()) {
        --left_;
        return last_;
    }
    const auto after = std::ranges::find_if(waiting, [this](const WaitingQueue& w) { return w.queue > last_; });
    last_ = after == waiting.end() ? waiting.front().queue : after->queue;
    left_ = burst_ - 1;
    return last_;
}

namespace {

class RoundRobin final : public Arbiter {
public:
    explicit RoundRobin(std::uint32_t burst) : turns_{burst} {}
    QueueId choose(std::span<const WaitingQueue> waiting) override { return turns_.next(waiting); }

private:
    Turns turns_;
};

constexpr const Option* round_robin_options[] = {&arbiter_option::burst};

} // namespace

const ArbiterEntry& round_robin_arbiter() {
    static constexpr ArbiterEntry entry{
        "round-robin", "each queue in turn",
        [](const OptionSet& set) -> std::unique_ptr<Arbiter> { return std::make_unique<RoundRobin>(set[arbiter_option::burst]); },
        round_robin_options};
    return entry;
}

} // namespace flashlab
