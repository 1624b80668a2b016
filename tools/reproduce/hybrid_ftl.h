/// Figure 11 of Kim et al. 2008: what the translation layers reach without a file system.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig11(RunLength length);

} // namespace flashlab
