/// flashlab cells: how many pages and blocks a known device has. The worked example of docs/adding-a-scheme.md; only tests have it.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <string>

#include "tools/text/table.h"

namespace flashlab {

struct CellsOptions {
    std::string preset;
    OutputFormat format = OutputFormat::table;
};
[[nodiscard]] int run_cells(const CellsOptions& options);

} // namespace flashlab
