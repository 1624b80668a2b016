/// Figures 7 to 9 of Chang et al. (COFTL). coftl_figures.cpp follows their section IV.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] ExperimentRun::Result run_co_fig7(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_co_fig8(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_co_fig9(const RunContext& context);

} // namespace flashlab
