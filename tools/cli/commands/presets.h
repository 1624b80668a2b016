/// flashlab presets: the known devices.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

[[nodiscard]] int run_presets(const std::string& name, OutputFormat format);

} // namespace flashlab
