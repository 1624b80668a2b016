/// flashlab presets: the known devices.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

[[nodiscard]] int run_presets(const std::string& name, OutputFormat format);

} // namespace flashlab
