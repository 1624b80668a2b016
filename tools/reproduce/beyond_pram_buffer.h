/// Adaptive partitioning's device with its write buffer in PRAM, which its paper names as a way out of power failures (AP7) and does not measure.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_pram_buffer(const RunContext& context);

} // namespace flashlab
