/// A [[load]] of a sweep's file: the command that runs, and the file that it reads.
///
/// Idea       A load is `bench`, a trace, or another command that prints one JSON object. Its options are those of the command line.
/// Invariant  No run of a sweep writes a file of its own: options that would are refused.
/// Cost       The trace is read once, for its hash.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/json.h"

namespace flashlab {

struct SweepLoad {
    std::string name;
    std::vector<std::string> words; ///< the command and its options, without those of the grid
    std::string trace, trace_hash;
    std::optional<std::string> size; ///< of the device, as given
    bool takes_grid = true;          ///< false: the command chooses its devices itself
    bool takes_seed = true;
    bool is_bench = false;
    bool reports_config = true; ///< the report's config_hash is that of the plan
};

/// `folder` is where S.toml lies: names of files are relative to it.
[[nodiscard]] std::expected<SweepLoad, std::string> read_sweep_load(const Json& table, std::size_t number, const std::string& folder);

/// A TOML value as one word of the command line.
[[nodiscard]] std::expected<std::string, std::string> word_of(const Json& value);

} // namespace flashlab
