/// flashlab crash torture: power cuts under a program on a mount.
///
/// Idea       Plain options, filled by the command line; prints and returns its exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/text/table.h"

namespace flashlab {

struct CrashTortureOptions {
    std::vector<std::string> command;
    std::string check;            ///< for sh -c, in the mount; empty: fsck and a mount are the check
    std::string device;           ///< cloned; empty: a new one of the following
    std::string ftl, metadata, size = "256M";
    std::string latency = "off";
    std::string replay;           ///< a kept copy instead
    std::string keep;             ///< where copies of failed states go; empty: here
    std::uint64_t cuts = 10, seed = 1;
    double within_s = 2;          ///< a cut comes at most so long after the mount
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_crash_torture(const CrashTortureOptions& options);

} // namespace flashlab
