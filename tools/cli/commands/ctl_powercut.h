/// What follows a `ctl powercut`: the second cut of --at recovery, and what a person or a program is told.
///
/// Idea       The mount has cut its own power and ended. What it answered says what was struck.
/// Invariant  What is said to be safe is what the drive promises: what was fsynced on a file system, what was flushed on a drive without one.
/// Cost       Waits until the mount has let go of the images.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/command_options.h"
#include "tools/text/json.h"

namespace flashlab {

struct CutAsked {
    std::string at;
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

/// The power failed in the work of the mount; with --at recovery it fails again in the recovery from that. Returns the exit code.
int finish_cut(const CutAsked& o, const std::string& directory, Json cut);

} // namespace flashlab
