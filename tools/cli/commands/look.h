/// flashlab ls, cat, cp and dump: into a drive that is not mounted, read only.
///
/// Idea       The command line fills plain options. The functions run the commands, print, and return the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct LsOptions {
    std::string target;
    bool is_long = false, recursive = false;
    OutputFormat format = OutputFormat::table;
};
struct CpOptions {
    std::string from, to;
    bool recursive = false;
};
struct DumpOptions {
    std::string directory;
    std::optional<std::uint64_t> page, block;
    bool data = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_ls(const LsOptions& options);
[[nodiscard]] int run_cat(const std::vector<std::string>& targets);
[[nodiscard]] int run_cp(const CpOptions& options);
[[nodiscard]] int run_dump(const DumpOptions& options);

} // namespace flashlab
