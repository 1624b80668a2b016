/// flashlab export: a log for other programs.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flashlab {

struct ExportOptions {
    std::string target, output;
    std::string perfetto; ///< a file
    std::string csv;      ///< a table or view
    std::string parquet;
    std::string from = "0s", to;
    std::optional<std::int64_t> run;
};

[[nodiscard]] int run_export(const ExportOptions& options);

} // namespace flashlab
