/// flashlab info, smart and fsck: what a drive is, how it fares, and whether it is whole.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/text/table.h"

namespace flashlab {

enum class InfoShow : std::uint8_t { usage, config, keys };

/// Whose names smart uses: all of ours, or exactly those that nvme-cli prints with -o json.
enum class SmartNames : std::uint8_t { all, nvme, ocp };

struct SmartOptions {
    std::string target;
    SmartNames names = SmartNames::all;
    std::optional<std::uint64_t> bytes_per_day;
    OutputFormat format = OutputFormat::table;
};

struct FsckOptions {
    std::string directory;
    bool look_only = false, repair = false, data = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_info(const std::string& target, InfoShow show, OutputFormat format);
[[nodiscard]] int run_smart(const SmartOptions& options);
[[nodiscard]] int run_fsck(const FsckOptions& options);

} // namespace flashlab
