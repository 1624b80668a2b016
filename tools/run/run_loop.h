/// Requests against something that answers in virtual time: the one loop of replay, bench and preconditioning.
///
/// Idea       Open loop: a request arrives when its time says. Closed loop: the next arrives when one of `depth` in flight is answered.
/// Invariant  Served = read: every request taken is issued once and answered once, or an error numbers it. A signal ends a run: who watches it gets the part, others an error.
/// Cost       Two indirect calls a request; nothing allocated a request in steady state.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "tools/drive/device.h"
#include "tools/run/run_report.h"
#include "tools/traces/address_fit.h"

namespace flashlab {

class PayloadStamp;

struct ReplaySpeed {
    std::uint32_t depth = 0;  ///< 0 = open loop
    double factor = 1;        ///< open loop: the trace's clock runs this much faster
};

/// The next request, or none at the end.
using NextRequest = std::function<std::expected<bool, std::string>(TraceRequest&)>;

/// What a load on sectors may use: the whole of a drive, unless another disk is named.
struct RunSpace {
    RunSpace(Device& whole) : device{&whole}, disk{&whole.ssd()}, begin{whole.ready_at()} {} // NOLINT(google-explicit-constructor): a drive is such a space
    [[nodiscard]] std::uint64_t bytes() const { return disk->identify().sectors * sector_bytes; }
    Device* device;
    BlockDevice* disk;
    PayloadStamp* payload = nullptr; ///< null: nobody wants the bytes
    SimTime begin;
};

/// What is driven.
struct RunTarget {
    std::function<std::expected<SimTime, std::string>(const TraceRequest& request, SimTime now)> issue;
    /// Lets what is due by then happen; `work_at`: something may have become due.
    std::function<void(SimTime now)> pass;
    std::function<void(SimTime now)> work_at = [](SimTime) {};
};

/// count_from_here: the tally begins anew with the next request.
enum class RunStep : std::uint8_t { go_on, count_from_here, stop };
/// Told after requests.
struct RunWatch {
    std::uint64_t every = 0; ///< requests; 0 = never
    std::function<RunStep(const RunTally& tally)> look{};
};

[[nodiscard]] std::expected<RunTally, std::string> run_requests(const RunTarget& target, const NextRequest& next, const ReplaySpeed& speed, SimTime begin,
                                                                const RunWatch& watch = {});

/// What a target writes where bytes are kept: each sector its own, to be verified when it is read, or zeros, which cost an image no room.
enum class Written : std::uint8_t { stamps, zeros };
/// A device's sectors. `disk` is what the addresses mean: the whole drive, or a part of it; `payload`: null where nobody wants the bytes. All outlive the target.
[[nodiscard]] RunTarget sectors_target(Device& device, BlockDevice& disk, AddressFit& fit, PayloadStamp* payload, Written written = Written::stamps);

} // namespace flashlab
