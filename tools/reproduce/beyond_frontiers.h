/// The hybrid paper's future work (HY4): two buffer blocks, so that hot and cold data do not share a block.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_frontiers(const RunContext& context);

} // namespace flashlab
