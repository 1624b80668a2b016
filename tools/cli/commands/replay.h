/// flashlab replay: a trace on a device, in virtual time.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>

#include "tools/run/device_choice.h"
#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {

struct ReplayOptions {
    TraceInput input;
    DeviceChoice device;
    std::string speed = "open", precondition, warm_up;
    bool until_steady = false;
    bool wrap = false, compact = false;
    bool top = false; ///< the live view while it runs
    OutputFormat format = OutputFormat::table;
    std::uint64_t seed = 1;
};

[[nodiscard]] int run_replay(const ReplayOptions& options);

} // namespace flashlab
