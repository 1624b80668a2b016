/// flashlab reproduce: the papers' experiments.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct ReproduceOptions {
    std::vector<std::string> ids, traces; ///< traces: NAME=FILE
    bool quick = false;
    OutputFormat format = OutputFormat::table;
    unsigned jobs = 0; ///< cores; 0: all
    std::optional<std::string> html, markdown;
    std::string trace_folder;
};

[[nodiscard]] int run_reproduce(const ReproduceOptions& options);

} // namespace flashlab
