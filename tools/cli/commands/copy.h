/// flashlab snapshot and clone.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

/// Of snapshot and clone.
struct CopyOptions {
    std::string from, to;
    bool remove = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_snapshot(const CopyOptions& options);
[[nodiscard]] int run_clone(const CopyOptions& options);

} // namespace flashlab
