/// One point of an experiment that replays a load: a new device, filled, driven, measured.
///
/// Invariant  The fill is in no result. Payload is not kept, because no answer depends on bytes.
/// Cost       The device's tables, the fill, and a virtual call a request.
#pragma once

#include "tools/drive/device_config.h"
#include "tools/reproduce/load.h"
#include "tools/run/replay.h"

namespace flashlab {

struct TraceRun {
    DeviceConfig config;
    std::uint64_t requests = 0; ///< the number of requests, at most
    ReplaySpeed speed{.depth = 1};
    Precondition before{.fill_percent = 100};
    std::uint64_t seed = 1; ///< seed of the preconditioning
};

struct TraceOutcome {
    double seconds = 0; ///< simulated
    std::uint64_t requests = 0;
    std::uint64_t map_bytes = 0; ///< DRAM that the layer's maps take at the end
    Json report;                 ///< as flashlab replay prints it; its wall-clock keys are zero or vary, so no result may use them
    [[nodiscard]] double requests_per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
};

/// Addresses beyond the device wrap around.
[[nodiscard]] std::expected<TraceOutcome, std::string> run_trace_on(const TraceRun& run, const Load& load);

} // namespace flashlab
