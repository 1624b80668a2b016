/// flashlab run: a program on a temporary drive, and afterwards where its bytes went.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct RunOptions {
    std::vector<std::string> command;
    std::string check; ///< for sh -c, on the drive that was unmounted and mounted again
    std::optional<std::string> preset, config_file, ftl, metadata;
    std::string size, precondition;
    std::vector<std::string> settings;
    std::string device; ///< a drive to clone instead of a new one
    std::string latency = "off", log = "all", keep, html;
    std::vector<std::string> compare, compare_ftl; ///< presets, schemes to run again with
    double runs_per_day = 0;                       ///< 0: with latency real one after the other, without a pause
    std::uint64_t rows = 10;                       ///< of files and syncs, for people
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_run(const RunOptions& options);

} // namespace flashlab
