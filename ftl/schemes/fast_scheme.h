/// fast in the list of schemes. See fast.h.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& fast_scheme();

} // namespace flashlab
