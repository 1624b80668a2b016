/// Submission queues of a host before a drive: who waits, and who is fetched next.
///
/// Idea       Commands wait in the queues to which they were submitted, each queue in order. The drive works on at most `slots` of them; when a slot
///            is free, the arbiter says whose first command takes it. The drive itself is called with the command then, and answers when it is done;
///            from that time on the slot is free. Who drives the queues keeps the commands themselves, in the same order.
/// Invariant  Fetches do not go back in time, and none comes before its submission. A queue's commands are fetched in the order of their
///            submission. A free slot and a waiting command do not stand beside each other.
/// Cost       O(queues + log slots) a command; nothing is allocated but by a queue that grows.
/// Power cut  Belongs to a run. What waits was never with the drive.
/// Limit      A command is placed on the flash's calendars when it is fetched: chips do not reorder what they were given (docs/architecture.md).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "ftl/host/arbiter.h"

namespace flashlab {

class HostQueues {
public:
    /// `slots` 0: the drive takes every command at once.
    HostQueues(std::vector<QueuePriority> priorities, std::uint32_t slots, std::unique_ptr<Arbiter> arbiter);

    /// Times do not go back, over all queues, and are not before the last fetch. A queue that nobody named before is of medium priority.
    void submit(QueueId queue, SimTime at);
    /// When the next command is fetched if nothing more is submitted until then; none: no command waits.
    [[nodiscard]] std::optional<SimTime> next_fetch() const;

    struct Fetch {
        QueueId queue;
        SimTime submitted;
        SimTime at;
    };
    /// At next_fetch(), which is not none. All that was submitted up to then has been told.
    [[nodiscard]] Fetch fetch();
    /// The command that was fetched last is answered at this time.
    void answered(SimTime at);

    [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
    [[nodiscard]] QueuePriority priority_of(QueueId queue) const { return queues_[queue.value()].priority; }
    [[nodiscard]] std::size_t size() const { return queues_.size(); }

private:
    struct Queue {
        QueuePriority priority;
        std::deque<SimTime> submitted;
    };
    std::vector<Queue> queues_;
    std::uint32_t slots_;
    std::unique_ptr<Arbiter> arbiter_;
    std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> busy_; ///< when slots become free
    std::vector<WaitingQueue> heads_;
    std::uint32_t waiting_ = 0;
    SimTime last_fetch_ = sim_start;
};

} // namespace flashlab
