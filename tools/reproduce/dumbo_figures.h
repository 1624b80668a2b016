/// Figures 11 to 15 of Kang et al. 2007 (DUMBO), raw level. dumbo_figures.cpp follows their section 5.1.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig11(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig12(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig13(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig14(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig15(RunLength length);

} // namespace flashlab
