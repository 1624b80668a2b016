/// block_map in the list of schemes. See block_map.h.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& block_map_scheme();

} // namespace flashlab
