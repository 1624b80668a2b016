/// Makes the runs of a shard, several at once, each in a process of its own.
///
/// Idea       A run is the command that a user would type, in a forked child: what a run does to itself (no memory, a defect) ends that run alone.
///            Finished runs go to a journal beside the output; the database is made when all are finished.
/// Invariant  The output is there only when every run of the shard is finished. It then also holds what it held before. A run that has a result is
///            not made again; one that failed is. No child outlives this process.
/// Cost       A fork, two files in memory and a line of JSON a run: a millisecond or two.
/// Power cut  After a kill at any instant the same call goes on with the runs that are not in the journal.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/sweep_run.h"

namespace flashlab {

struct SweepShardOptions {
    std::string output;  ///< the database
    std::string scratch; ///< where the journal lies; empty: beside the output
    unsigned jobs = 1;
};

/// Runs the words of a command in this process, printing to standard output, and returns the exit code.
using CommandRunner = std::function<int(const std::vector<std::string>& words)>;

struct SweepShardResult {
    std::uint64_t made = 0, known = 0, failed = 0; ///< in this call; before it; and of `made`
    bool was_interrupted = false;
    std::string first_failure;
};

/// `progress` is called with the number of runs that are finished.
[[nodiscard]] std::expected<SweepShardResult, std::string> run_sweep_shard(const std::vector<SweepRun>& shard, const SweepShardOptions& options,
                                                                           const CommandRunner& command,
                                                                           const std::function<void(std::uint64_t)>& progress);

/// The journal of an output.
[[nodiscard]] std::string sweep_journal_path(const std::string& output, const std::string& scratch);

} // namespace flashlab
