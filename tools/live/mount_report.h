/// The part of `ctl stats` that the mount knows: its operations and how long their answers took.
///
/// Cost       Constant.
#pragma once

#include "fs/fuse/mount.h"
#include "tools/text/json.h"

namespace flashlab {

[[nodiscard]] Json to_json(const MountStats& stats);

} // namespace flashlab
