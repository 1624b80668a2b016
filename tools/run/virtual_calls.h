/// Calls of a file system for runs whose only clock is the simulated one.
///
/// Idea       A run without a kernel (bench --level fs, replay --device) has no wall clock. Where a mount gives a file a wall-clock time, such a run
///            gives it the simulated time.
/// Invariant  The same calls at the same instants leave the same bytes.
/// Cost       None of its own.
#pragma once

#include "fs/file_system.h"

namespace flashlab {

[[nodiscard]] FsCall call_at(SimTime now);
/// Syncs the file system and waits for its background steps. At the time returned everything written is durable.
[[nodiscard]] FsResult<SimTime> sync_all(FileSystem& fs, SimTime now);

} // namespace flashlab
