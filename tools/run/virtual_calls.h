/// Calls of a file system whose only clock is the simulated one.
///
/// Idea       Runs without a kernel (bench --level fs, replay --device) ask as nobody else does: the wall clock of a file's times is the simulated instant.
/// Invariant  The same calls at the same instants leave the same bytes.
/// Cost       None of its own.
/// Power cut  Keeps nothing.
#pragma once

#include "fs/file_system.h"

namespace flashlab {

[[nodiscard]] FsCall call_at(SimTime now);
/// Everything written is durable at the time returned; the file system's own steps are waited for.
[[nodiscard]] FsResult<SimTime> sync_all(FileSystem& fs, SimTime now);

} // namespace flashlab
