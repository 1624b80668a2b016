/// DFTL's entry in the table of schemes.
#pragma once

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] const Scheme& dftl_scheme();

} // namespace flashlab
