/// Figure 16 of Kang et al. 2007 (DUMBO): what an application sees through Linux and the log-block translation layer.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig16(RunLength length);

/// MB/s of asynchronous writes when the driver's two threads compete for the CPU. So many percent of the completions of each group, evenly spread,
/// are noticed only when the busy wait of the other group is over.
[[nodiscard]] std::expected<double, std::string> dumbo_write_competing(RunLength length, std::uint32_t percent_of_completions);

} // namespace flashlab
