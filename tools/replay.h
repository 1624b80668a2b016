/// Requests of a trace on a device, in virtual time, and what is on the device before.
///
/// Idea       run_loop.h with a device's sectors as target.
/// Invariant  As run_requests().
/// Cost       As run_requests(), and a virtual call a piece of a request.
#pragma once

#include <expected>
#include <string>

#include "tools/run_loop.h"

namespace flashlab {

/// What a load on sectors may use: the whole of a drive, unless another disk is named.
struct RunSpace {
    RunSpace(Device& whole) : device{&whole}, disk{&whole.ssd()}, begin{whole.ready_at()} {} // NOLINT(google-explicit-constructor): a drive is such a space
    [[nodiscard]] std::uint64_t bytes() const { return disk->identify().sectors * sector_bytes; }
    Device* device;
    BlockDevice* disk;
    PayloadStamp* payload = nullptr; ///< null: nobody wants the bytes
    SimTime begin;
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
[[nodiscard]] std::expected<SimTime, std::string> precondition(const RunSpace& space, const Precondition& what, std::uint64_t seed, SimTime now);

[[nodiscard]] std::expected<RunTally, std::string> replay(const RunSpace& space, const NextRequest& next, AddressFit& fit, const ReplaySpeed& speed, SimTime begin,
                                                          const RunWatch& watch = {});

} // namespace flashlab
