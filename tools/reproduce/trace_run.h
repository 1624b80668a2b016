/// One point of an experiment that replays a load: a new device, filled, driven, measured.
///
/// Invariant  The fill is in no result. Payload is not kept, because no answer depends on bytes.
/// Cost       The device's tables, the fill, and a virtual call a request.
#pragma once

#include <functional>

#include "tools/drive/device_config.h"
#include "tools/reproduce/load.h"
#include "tools/run/replay.h"

namespace flashlab {

struct TraceRun {
    DeviceConfig config;
    std::uint64_t requests = 0; ///< the number of requests, at most
    ReplaySpeed speed{.depth = 1};
    Precondition before{.fill_percent = 100};
    std::uint64_t seed = 1;              ///< seed of the preconditioning
    std::function<void(Device&)> look{}; ///< at the drive, when the run has ended
};

/// The load of a run, for a drive of so many bytes.
using MakeRequests = std::function<std::expected<NextRequest, std::string>(std::uint64_t bytes)>;
[[nodiscard]] MakeRequests requests_of(const Load& load);
/// So many of them at most.
[[nodiscard]] NextRequest first_of(NextRequest all, std::uint64_t requests);

struct TraceOutcome {
    double seconds = 0; ///< simulated
    std::uint64_t requests = 0;
    std::uint64_t map_bytes = 0;   ///< DRAM that the layer's maps take at the end
    std::uint64_t table_bytes = 0; ///< all of the page table, wherever it lies
    Json report;                   ///< as flashlab replay prints it; its wall-clock keys are zero or vary, so no result may use them
    [[nodiscard]] double requests_per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
};

/// Addresses beyond the device wrap around. `ageing`: requests that follow the fill and do not count, all of them; none where null.
[[nodiscard]] std::expected<TraceOutcome, std::string> run_requests_on(const TraceRun& run, const MakeRequests& ageing, const MakeRequests& load);
[[nodiscard]] std::expected<TraceOutcome, std::string> run_trace_on(const TraceRun& run, const Load& load);

} // namespace flashlab
