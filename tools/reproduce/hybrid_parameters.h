/// What the paper of the hybrid drive leaves open, for the reports of its figures.
///
/// Cost       A few strings.
#pragma once

#include <vector>

#include "tools/reproduce/experiment.h"

namespace flashlab {

/// The board: what every figure of the paper rests on.
[[nodiscard]] std::vector<FreeParameter> hybrid_board_parameters();
/// The files that come and go, of figures 3, 9 and 13.
[[nodiscard]] std::vector<FreeParameter> hybrid_churn_parameters();

} // namespace flashlab
