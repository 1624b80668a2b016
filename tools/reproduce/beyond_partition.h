/// Adaptive partitioning beyond its paper: a load of changing phases, COFTL, other values of what the paper leaves open, and the causes of claims
/// that fail.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_phases(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_coftl_partition(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_sensitivity(const RunContext& context);
[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_causes(const RunContext& context);

} // namespace flashlab
