/// flashlab report: runs as one page with plots.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashlab {

struct ReportOptions {
    std::vector<std::string> runs;
    std::vector<std::string> names; ///< in place of the paths
    std::string output;
    std::optional<std::int64_t> run; ///< of a log of several
};

[[nodiscard]] int run_report_command(const ReportOptions& options);

} // namespace flashlab
