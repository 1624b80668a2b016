/// The loads of the papers' experiments, by name: sysmark, pc, financial, tpcc (Table V of the adaptive partitioning paper).
///
/// Idea       The papers' traces are not public. Sizes, mix and working sets are those of Table V. Sequentiality and reuse are those of the most
///            similar public excerpts.
/// Invariant  Scaling divides working sets and reuse windows, and nothing else: sizes, mix and shares stay.
/// Source     tools/workloads/README.md says for each number where it comes from, and how close the generated requests come to it.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "tools/workloads/workload.h"

namespace flashlab {

[[nodiscard]] std::span<const std::string_view> paper_workload_names();
/// `scale` divides the working sets: 16 gives a sixteenth of them. It is 1 to 256.
[[nodiscard]] std::expected<WorkloadSpec, std::string> paper_workload(std::string_view name, std::uint32_t scale);

} // namespace flashlab
