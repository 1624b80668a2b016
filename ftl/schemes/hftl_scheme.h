/// hFTL in the list of schemes: what a configuration of it comes to, and how it is made. See hftl.h.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& hftl_scheme();

} // namespace flashlab
