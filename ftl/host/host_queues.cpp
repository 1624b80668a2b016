#include "ftl/host/host_queues.h"

#include <algorithm>
#include <utility>

#include "base/contract.h"

namespace flashlab {

HostQueues::HostQueues(std::vector<QueuePriority> priorities, std::uint32_t slots, std::unique_ptr<Arbiter> arbiter)
    : slots_{slots}, arbiter_{std::move(arbiter)} {
    for (const QueuePriority priority : priorities) queues_.push_back({priority, {}});
    heads_.reserve(queues_.size());
}

void HostQueues::submit(QueueId queue, SimTime at) {
    if (queue.value() >= queues_.size()) queues_.resize(queue.value() + 1, {QueuePriority::medium, {}});
    queues_[queue.value()].submitted.push_back(at);
    ++waiting_;
}

std::optional<SimTime> HostQueues::next_fetch() const {
    if (waiting_ == 0) return std::nullopt;
    SimTime first = sim_never;
    for (const Queue& queue : queues_)
        if (!queue.submitted.empty()) first = std::min(first, queue.submitted.front());
    first = std::max(first, last_fetch_);
    return slots_ == 0 || busy_.size() < slots_ ? first : std::max(first, busy_.top());
}

HostQueues::Fetch HostQueues::fetch() {
    const auto at = next_fetch();
    ensure(at.has_value(), "a command that waits");
    heads_.clear();
    for (std::size_t i = 0; i < queues_.size(); ++i)
        if (const auto& submitted = queues_[i].submitted; !submitted.empty() && submitted.front() <= *at)
            heads_.push_back({QueueId{static_cast<std::uint16_t>(i)}, queues_[i].priority, submitted.front()});
    const QueueId chosen = arbiter_->choose(heads_);
    auto& submitted = queues_[chosen.value()].submitted;
    const Fetch fetched{chosen, submitted.front(), *at};
    submitted.pop_front();
    --waiting_;
    last_fetch_ = *at;
    if (slots_ != 0 && busy_.size() == slots_) busy_.pop();
    return fetched;
}

void HostQueues::answered(SimTime at) {
    if (slots_ != 0) busy_.push(at);
}

} // namespace flashlab
