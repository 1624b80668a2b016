/// flashlab explain: a few requests on a tiny drive, told and drawn step by step.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {

struct ExplainOptions {
    std::vector<std::string> script; ///< steps, or nothing where a trace is told
    std::string ftl = "page_map", html, until;
    std::uint32_t blocks = 8, pages_per_block = 4;
    std::uint64_t seed = 1;
    bool levels_wear = false, brief = false;
    TraceInput trace;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_explain(const ExplainOptions& options);

} // namespace flashlab
