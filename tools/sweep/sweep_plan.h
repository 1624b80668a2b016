/// What a sweep consists of: every load on every configuration of a grid with every seed.
///
/// Idea       The file S.toml says what to vary; the plan is a list with a line a run, which any number of machines can share out. All that can be
///            checked without running is checked here: keys, values, options, that no two runs are the same.
/// Invariant  The same file, traces and version give the same plan, byte for byte. Loads come in the order of the file, keys of the grid in
///            alphabetical order, the last one and then the seed changing fastest. Nothing depends on the memory of this host.
/// Cost       A plan of a device for each configuration; each trace is read once.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/sweep_run.h"

namespace flashlab {

struct SweepPlanner {
    /// What is wrong with a command's words before it runs; empty: nothing. The command line knows.
    std::function<std::string(const std::vector<std::string>& words)> wrong_usage;
    /// The size of the default device of bench.
    std::uint64_t default_bench_bytes = 0;
};

/// Reads S.toml and expands it.
[[nodiscard]] std::expected<std::vector<SweepRun>, std::string> plan_sweep(const std::string& file, const SweepPlanner& planner);
/// Reads what `sweep plan` wrote.
[[nodiscard]] std::expected<std::vector<SweepRun>, std::string> read_sweep_plan(const std::string& path);
/// The k-th of N parts, k from 1 on: every N-th run, so that runs of all lengths are in each part.
[[nodiscard]] std::vector<SweepRun> shard_of(const std::vector<SweepRun>& plan, std::uint64_t k, std::uint64_t n);

} // namespace flashlab
