/// The ideal page map's entry in the table of schemes.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& page_map_scheme();

} // namespace flashlab
