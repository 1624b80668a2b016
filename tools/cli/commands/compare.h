/// flashlab compare: reports beside each other.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

[[nodiscard]] int run_compare(const std::vector<std::string>& paths, OutputFormat format);

} // namespace flashlab
