/// What the paper of DUMBO leaves open, for the report of each of its figures.
///
/// Invariant  The values are those that the model uses: they come from the same constants.
/// Cost       A few strings.
#pragma once

#include <vector>

#include "base/sim_time.h"
#include "tools/reproduce/experiment.h"

namespace flashlab {

/// Of the raw level, figures 11 to 15.
[[nodiscard]] std::vector<FreeParameter> dumbo_free_parameters();
/// Of figure 16, those of the raw level included.
[[nodiscard]] std::vector<FreeParameter> dumbo_user_free_parameters(Duration cpu_of_request);

} // namespace flashlab
