/// Beyond the COFTL paper: what its gain over BL consists of, and what the chips' two-plane commands and the mirrored log do to it.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

/// Figure 9 with each part taken away from COFTL and from BL with the same DRAM: spare sets, cache, requests in flight, hot set.
[[nodiscard]] ExperimentRun::Result run_beyond_coftl_parts(const RunContext& context);
/// Figure 9 on chips whose planes take turns, with two-plane commands and without; and with the log written twice.
[[nodiscard]] ExperimentRun::Result run_beyond_coftl_chips(const RunContext& context);

} // namespace flashlab
