/// flashlab ctl: asks a live mount, or changes it.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct CtlOptions {
    std::string target, action;
    std::vector<std::string> arguments; ///< for `set`: key=value
    std::uint64_t seed = 1;
    bool prometheus = false;
    std::string at = "work"; ///< for powercut: what it strikes
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_ctl(const CtlOptions& options);

} // namespace flashlab
