/// COFTL in the list of schemes: what a configuration of it comes to, and how it is made. See coftl.h.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& coftl_scheme();

} // namespace flashlab
