/// favourite: one queue before all others, which are served first come, first served. docs/adding-a-scheme.md shows it.
#include <algorithm>
#include <array>

#include "ftl/host/arbiter.h"

namespace flashlab {
namespace {

constexpr OptionOf<std::uint16_t> queue{
    {.key = "favourite.queue", .help = "The number of the queue that is always served first.", .phase = OptionPhase::mount, .max = 65535}};

class Favourite final : public Arbiter {
public:
    explicit Favourite(QueueId first) : first_{first} {}
    QueueId choose(std::span<const WaitingQueue> waiting) override {
        if (std::ranges::find(waiting, first_, &WaitingQueue::queue) != waiting.end()) return first_;
        return std::ranges::min_element(waiting, {}, &WaitingQueue::submitted)->queue;
    }

private:
    QueueId first_;
};

} // namespace

const ArbiterEntry& favourite_arbiter() {
    static constexpr std::array<const Option*, 1> options{&queue};
    static constexpr ArbiterEntry entry{
        "favourite", "one queue before all others",
        [](const OptionSet& set) -> std::unique_ptr<Arbiter> { return std::make_unique<Favourite>(QueueId{set[queue]}); }, options};
    return entry;
}

} // namespace flashlab
