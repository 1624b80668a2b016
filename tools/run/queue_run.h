/// Requests of several submission queues against a target, in virtual time.
///
/// Idea       Each queue has a load of its own and keeps `depth` commands submitted. HostQueues says which command the drive fetches, and when.
/// Invariant  As run_requests(). Latencies count from the submission: what a command waits in its queue is part of them, and told apart.
///            What is submitted up to the time of a fetch is seen by it.
/// Cost       As run_requests(), and a fetch and two steps in a heap a request.
#pragma once

#include <span>

#include "ftl/host/host_queues.h"
#include "tools/run/run_loop.h"

namespace flashlab {

struct QueueLoad {
    NextRequest next;
    std::uint32_t depth = 1; ///< commands submitted and not yet answered
    QueuePriority priority = QueuePriority::medium;
};

/// The queues in front of a drive of this configuration, whose arbiter is one of the list. An arbiter is refused where nobody waits: plan_ftl().
[[nodiscard]] HostQueues host_queues(const SsdConfig& drive, std::span<const QueueLoad> loads);

/// Until each load has ended. `queues` are those of the loads, in their order.
[[nodiscard]] std::expected<RunTally, std::string> run_queues(const RunTarget& target, std::span<const QueueLoad> loads, HostQueues& queues,
                                                              SimTime begin, const RunWatch& watch = {});

} // namespace flashlab
