/// flashlab compare: reports beside each other.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

[[nodiscard]] int run_compare(const std::vector<std::string>& paths, OutputFormat format);

} // namespace flashlab
