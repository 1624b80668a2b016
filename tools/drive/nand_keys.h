/// The configuration keys of the flash: geometry, times, what chips and channels can do.
///
/// Idea       A part of the table of keys (tools/drive/config_schema.h), which puts it before the keys of the PRAM.
/// Invariant  All names begin with "nand."; the order is that of device.toml and docs/configuration.md.
/// Cost       Built once.
#pragma once

#include <span>

#include "tools/drive/config_schema.h"

namespace flashlab {

[[nodiscard]] std::span<const ConfigKey> nand_keys();

} // namespace flashlab
