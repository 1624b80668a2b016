/// flashlab snapshot and clone.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

/// The options of snapshot and clone.
struct CopyOptions {
    std::string from, to;
    bool remove = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_snapshot(const CopyOptions& options);
[[nodiscard]] int run_clone(const CopyOptions& options);

} // namespace flashlab
