/// flashlab mount: serves a drive as a directory.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashlab {

struct MountOptions {
    std::string directory, mount_point;
    std::string latency = "off";
    std::optional<std::string> log; ///< default: summary, and none for a read-only mount
    std::uint64_t log_keep_bytes = std::uint64_t{1} << 30;
    std::vector<std::string> options;  ///< -o, commas already split
    std::vector<std::string> settings; ///< --set
    std::string record;                ///< --record
    bool foreground = false, read_only = false;
    bool sloppy = false; ///< -s of mount(8): unknown -o words are ignored
    bool fake = false;   ///< -f of mount(8): everything but the mount itself
};

[[nodiscard]] int run_mount(const MountOptions& options);

} // namespace flashlab
