/// Figures 2 and 4 to 10 of the adaptive partitioning paper: where the DRAM does most good, and whether ghost caches find it.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig2(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig4(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig5(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig6(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig7(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig8(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig9(RunLength length);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig10(RunLength length);

} // namespace flashlab
