/// A synthetic load as a trace: workload:NAME[,requests=N][,scale=K][,seed=S] wherever a trace file is asked for.
///
/// Cost       A virtual call a request over the generator's.
#pragma once

#include "tools/traces/trace_source.h"

namespace flashlab {

[[nodiscard]] bool is_workload_name(std::string_view path);
/// The error lists the loads.
[[nodiscard]] std::expected<std::unique_ptr<TraceSource>, std::string> make_workload_source(std::string_view path);

} // namespace flashlab
