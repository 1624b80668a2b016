/// log_block's entry in make_ftl's table.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& log_block_scheme();

} // namespace flashlab
