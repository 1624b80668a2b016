/// Why the DUMBO driver's cost is charged as it is, and what stands behind a claim of the hybrid paper that fails: what the model charges is charged another way.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_overheads(RunLength length);

} // namespace flashlab
