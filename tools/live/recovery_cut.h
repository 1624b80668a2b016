/// A power cut inside the recovery of a device that is not mounted.
///
/// Idea       The device is opened as a mount opens it, which recovers drive and file system. Then its power fails at an instant of that recovery.
/// Invariant  Nothing is answered to anybody meanwhile, so every instant of the recovery is allowed.
/// Cost       One recovery.
/// Power cut  This is one. `struck` is idle where the recovery changed nothing that could be torn.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/events.h"
#include "fs/device_power.h"

namespace flashlab {

[[nodiscard]] std::expected<CutSummary, std::string> cut_recovery(const std::string& directory, std::uint64_t seed, EventLevel log);

} // namespace flashlab
