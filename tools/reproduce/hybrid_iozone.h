/// Figure 12 of Kim et al. 2008: IOZone's patterns through the file system, on the paper's four systems.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig12(RunLength length);

} // namespace flashlab
