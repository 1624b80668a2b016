/// flashlab ctl: asks a live mount, or changes it.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct CtlOptions {
    std::string target, action;
    std::vector<std::string> arguments; ///< of set: key=value
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_ctl(const CtlOptions& options);

} // namespace flashlab
