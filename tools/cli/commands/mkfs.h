/// flashlab mkfs: makes a drive on disk.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct MkfsOptions {
    std::string directory;
    std::optional<std::string> preset, config_file, ftl, metadata;
    std::optional<std::uint64_t> size_bytes, seed;
    std::string label;
    std::vector<std::string> settings;
    std::string precondition;
    bool dry_run = false, force = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_mkfs(const MkfsOptions& options);

} // namespace flashlab
