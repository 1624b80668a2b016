/// The loads of the papers' experiments, by name: sysmark, pc, financial, tpcc (Table V of the adaptive partitioning paper).
///
/// Idea       Their traces are not public. Sizes, mix and working sets are Table V's; sequentiality and reuse are those of the closest public excerpts.
/// Invariant  Scaling divides working sets and reuse windows, and nothing else: sizes, mix and shares stay.
/// Source     tools/workloads/README.md says for each number where it comes from and how close the requests come.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "tools/workloads/workload.h"

namespace flashlab {

[[nodiscard]] std::span<const std::string_view> paper_workload_names();
/// `scale` 16: a sixteenth of the working sets; 1 to 256.
[[nodiscard]] std::expected<WorkloadSpec, std::string> paper_workload(std::string_view name, std::uint32_t scale);

} // namespace flashlab
