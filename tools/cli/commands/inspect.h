/// flashlab info, smart and fsck: what a drive is, how it fares, and whether it is whole.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>

#include "tools/text/table.h"

namespace flashlab {

enum class InfoShow : std::uint8_t { usage, config, keys };

struct FsckOptions {
    std::string directory;
    bool look_only = false, repair = false, data = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_info(const std::string& target, InfoShow show, OutputFormat format);
[[nodiscard]] int run_smart(const std::string& target, OutputFormat format);
[[nodiscard]] int run_fsck(const FsckOptions& options);

} // namespace flashlab
