/// Figures 3, 9, 13 and 14 of Kim et al. 2008: the effect of files that are created and deleted on metadata, collections and erases, and how much
/// PRAM the system needs.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig3(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig9(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig13(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_hy_fig14(RunLength length);
/// The records of the files and the share of small ones, varied.
[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_files(RunLength length);

} // namespace flashlab
