/// Requests of several submission queues against a target, in virtual time.
///
/// Idea       A load gives requests, each of which names its queue. A closed load keeps `depth` commands submitted; a planned one has a time for
///            each, at which it is submitted if fewer than `depth` are. HostQueues says which command the drive fetches, and when.
/// Invariant  As run_requests(). Latencies count from the time that was planned, else from the submission: what a command waits for its turn is
///            part of them, and told apart. So a drive that falls behind a rate does not hide it. What is submitted up to the time of a fetch is
///            seen by it.
/// Cost       As run_requests(), and a fetch and two steps in a heap a request.
#pragma once

#include <span>
#include <vector>

#include "ftl/host/host_queues.h"
#include "tools/run/run_loop.h"

namespace flashlab {

struct QueueLoad {
    NextRequest next;
    std::uint32_t depth = 1;          ///< commands submitted and not yet answered; 0: any number
    bool is_planned = false;          ///< requests have times, from the run's beginning on, that do not go back
    Duration lasts = Duration::max(); ///< since the run's begin: then nothing is submitted any more
};

/// The queues in front of a drive of this configuration, whose arbiter is one of the list. An arbiter is refused where nobody waits: plan_ftl().
[[nodiscard]] HostQueues host_queues(const SsdConfig& drive, std::vector<QueuePriority> priorities);

/// Until each load has ended.
[[nodiscard]] std::expected<RunTally, std::string> run_queues(const RunTarget& target, std::span<const QueueLoad> loads, HostQueues& queues,
                                                              SimTime begin, const RunWatch& watch = {});

} // namespace flashlab
