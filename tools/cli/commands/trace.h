/// flashlab trace: what is in a trace, and its conversion.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <optional>
#include <string>

#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {

struct TraceCommandOptions {
    TraceInput input;
    std::optional<std::string> convert, output;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_trace(const TraceCommandOptions& options);

} // namespace flashlab
