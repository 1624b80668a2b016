/// log_block in the list of schemes. See log_block.h.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& log_block_scheme();

} // namespace flashlab
