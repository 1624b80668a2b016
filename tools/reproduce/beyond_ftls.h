/// Beyond the papers: all translation layers on one device. beyond_ftls.cpp describes the set-up.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] ExperimentRun::Result run_beyond_ftls(const RunContext& context);
[[nodiscard]] ExperimentRun::Result run_beyond_recovery(const RunContext& context);

} // namespace flashlab
