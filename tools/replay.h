/// Requests of a trace on a device, in virtual time.
///
/// Idea       Open loop: a request arrives when the trace says. Closed loop: the next arrives when one of `depth` in flight is answered.
/// Invariant  Served = read: every request of the trace that is taken is issued once and answered once, or the replay ends with an error.
/// Cost       A virtual call a piece of a request; nothing allocated a request in steady state.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "tools/device.h"
#include "tools/run_report.h"
#include "tools/traces/address_fit.h"

namespace flashlab {

struct ReplaySpeed {
    std::uint32_t depth = 0;  ///< 0 = open loop
    double factor = 1;        ///< open loop: the trace's clock runs this much faster
};
/// "open", "closed:8", "10x".
[[nodiscard]] std::expected<ReplaySpeed, std::string> parse_replay_speed(const std::string& text);

struct Precondition {
    std::uint32_t fill_percent = 0;
    double random_fills = 0;   ///< times the filled bytes, overwritten at random
};
/// "fill:90,random:2x", "90", "0.9,random": what is on the device before the run.
[[nodiscard]] std::expected<Precondition, std::string> parse_precondition(const std::string& text);
/// When it is done. Written with requests of 1 MiB, then of one logical page; none of it counts in a report.
[[nodiscard]] std::expected<SimTime, std::string> precondition(Device& device, const Precondition& what, std::uint64_t seed, SimTime now);

/// The next request, or none at the end.
using NextRequest = std::function<std::expected<bool, std::string>(TraceRequest&)>;

[[nodiscard]] std::expected<RunTally, std::string> replay(Device& device, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin);

} // namespace flashlab
