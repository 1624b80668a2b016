/// fifo: the command that was submitted first, whoever waits. A mount is served so.
#include <algorithm>

#include "ftl/host/arbiter.h"

namespace flashlab {
namespace {

class Fifo final : public Arbiter {
public:
    QueueId choose(std::span<const WaitingQueue> waiting) override { return std::ranges::min_element(waiting, {}, &WaitingQueue::submitted)->queue; }
};

} // namespace

const ArbiterEntry& fifo_arbiter() {
    static constexpr ArbiterEntry entry{"fifo", "the command that was submitted first",
                                        [](const OptionSet&) -> std::unique_ptr<Arbiter> { return std::make_unique<Fifo>(); }};
    return entry;
}

} // namespace flashlab
