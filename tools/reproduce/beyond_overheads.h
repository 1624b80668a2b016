/// Variations of the model's overheads: what a cost does to a claim when it is charged in another way. They explain why the DUMBO driver's cost is
/// charged as it is, and why a claim of the hybrid paper fails.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_beyond_overheads(RunLength length);

} // namespace flashlab
