/// Requests of a trace on a device, in virtual time.
///
/// Idea       The request loop of run_loop.h, with a device's sectors as its target. A drive with host_link.slots fetches the requests from their
///            queues (queue_run.h). `priorities` are those of the first queues; the others' is medium.
/// Invariant  As run_requests().
/// Cost       As run_requests(), and one virtual call for each piece of a request.
#pragma once

#include <expected>
#include <string>

#include "tools/run/precondition.h"
#include "tools/run/run_loop.h"

namespace flashlab {

/// "open", "closed:8", "10x".
[[nodiscard]] std::expected<ReplaySpeed, std::string> parse_replay_speed(const std::string& text);
/// "urgent,low": of queue 0, of queue 1 ...
[[nodiscard]] std::expected<std::vector<QueuePriority>, std::string> parse_priorities(std::string_view text);

[[nodiscard]] std::expected<RunTally, std::string> replay(const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed,
                                                          SimTime begin, const RunWatch& watch = {},
                                                          const std::vector<QueuePriority>& priorities = {});

} // namespace flashlab
