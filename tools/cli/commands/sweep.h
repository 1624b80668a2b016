/// flashlab sweep: many configurations, loads and seeds, on any number of machines.
///
/// Idea       The command line fills plain options. The functions run the commands, print, and return the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct SweepPlanOptions {
    std::string sweep, output;
};
struct SweepRunOptions {
    std::string plan, output, shard = "1/1", scratch;
    unsigned jobs = 1;
    bool quiet = false;
};
struct SweepMergeOptions {
    std::vector<std::string> inputs;
    std::string output;
    bool reproducible = false;
};
struct SweepStatusOptions {
    std::string plan, scratch;
    std::vector<std::string> results;
    unsigned jobs = 1;
    OutputFormat format = OutputFormat::table;
};

/// `wrong_usage` says what is wrong with the words of a command; empty: nothing.
[[nodiscard]] int run_sweep_plan(const SweepPlanOptions& options, const std::function<std::string(const std::vector<std::string>&)>& wrong_usage);
/// `command` runs the words of a command.
[[nodiscard]] int run_sweep_run(const SweepRunOptions& options, const std::function<int(const std::vector<std::string>&)>& command);
[[nodiscard]] int run_sweep_merge(const SweepMergeOptions& options);
[[nodiscard]] int run_sweep_status(const SweepStatusOptions& options);

} // namespace flashlab
