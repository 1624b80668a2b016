/// weighted: urgent queues before all others; high, medium and low share what is left by weights.
///
/// Idea       NVMe's weighted round robin with urgent priority class. A class has as many credits as its weight; a command costs one. A class
///            without credits waits until no class that waits has any. Then all get theirs again. Within a class the queues take turns.
/// Invariant  While all three classes wait, their commands are in the ratio of the weights. Urgent queues can starve the others.
/// Source     NVM Express Base Specification 2.0, 3.4.4.2.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "ftl/host/turns.h"

namespace flashlab {
namespace {

constexpr Option weight_option(std::string_view key, std::string_view help, std::uint64_t initial) {
    return {.key = key, .help = help, .phase = OptionPhase::mount, .initial = initial, .min = 1, .max = 256};
}
constexpr OptionOf<std::uint32_t> weight_of_high{weight_option("weighted.high", "Weight of high-priority queues. Larger: more commands.", 8)};
constexpr OptionOf<std::uint32_t> weight_of_medium{weight_option("weighted.medium", "Weight of medium-priority queues. Larger: more commands.", 4)};
constexpr OptionOf<std::uint32_t> weight_of_low{weight_option("weighted.low", "Weight of low-priority queues. Larger: more commands.", 1)};
constexpr const Option* weighted_options[] = {&arbiter_option::burst, &weight_of_high, &weight_of_medium, &weight_of_low};

constexpr std::size_t queue_classes = std::size(queue_priority_names);

class Weighted final : public Arbiter {
public:
    explicit Weighted(const OptionSet& set)
        : weights_{0, set[weight_of_high], set[weight_of_medium], set[weight_of_low]}, turns_(queue_classes, Turns{set[arbiter_option::burst]}) {}

    QueueId choose(std::span<const WaitingQueue> waiting) override {
        const auto of = [&](std::size_t priority) {
            of_class_.clear();
            std::ranges::copy_if(waiting, std::back_inserter(of_class_),
                                 [&](const WaitingQueue& w) { return static_cast<std::size_t>(w.priority) == priority; });
            return !of_class_.empty();
        };
        if (of(0)) return turns_[0].next(of_class_);
        for (const bool is_new_round : {false, true}) {
            if (is_new_round) credits_ = weights_;
            for (std::size_t c = 1; c < queue_classes; ++c)
                if (credits_[c] != 0 && of(c)) {
                    --credits_[c];
                    return turns_[c].next(of_class_);
                }
        }
        return waiting.front().queue; // every queue is of a class, and a weight is not 0
    }

private:
    std::array<std::uint32_t, queue_classes> weights_, credits_{};
    std::vector<Turns> turns_;
    std::vector<WaitingQueue> of_class_; ///< for choose(): allocates no more
};

} // namespace

const ArbiterEntry& weighted_arbiter() {
    static constexpr ArbiterEntry entry{"weighted", "urgent queues first, the others by weights",
                                        [](const OptionSet& set) -> std::unique_ptr<Arbiter> { return std::make_unique<Weighted>(set); },
                                        weighted_options};
    return entry;
}

} // namespace flashlab
