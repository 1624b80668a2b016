/// Figure 16 of Kang et al. 2007 (DUMBO): what an application sees through Linux and the log-block translation layer.
#pragma once

#include "tools/reproduce/experiment.h"

namespace flashlab {

[[nodiscard]] std::expected<Reproduction, std::string> run_mc_fig16(RunLength length);

/// MB/s of asynchronous writes when so many of a hundred completions of each group, evenly spread, are seen only once the other group's busy wait is over: the CPU that both driver threads compete for.
[[nodiscard]] std::expected<double, std::string> dumbo_write_competing(RunLength length, std::uint32_t percent_of_completions);

} // namespace flashlab
