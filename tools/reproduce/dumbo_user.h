/// Figure 16 of Kang et al. 2007 (DUMBO): what an application sees through Linux and the log-block translation layer.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig16(RunLength length);

} // namespace flashlab
