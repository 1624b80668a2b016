/// Figures 2 and 4 to 10 of the adaptive partitioning paper: which share of the DRAM is best, and whether ghost caches find it.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig2(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig4(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig5(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig6(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig7(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig8(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig9(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_ap_fig10(const RunContext& context);

} // namespace flashlab
