/// A synthetic load as a trace. The name workload:NAME[,requests=N][,scale=K][,seed=S] may stand wherever a trace file is asked for.
///
/// Cost       As the generator, and a virtual call a request.
#pragma once

#include "tools/traces/trace_source.h"

namespace flashlab {

[[nodiscard]] bool is_workload_name(std::string_view path);
/// For an unknown name the error lists all loads.
[[nodiscard]] std::expected<std::unique_ptr<TraceSource>, std::string> make_workload_source(std::string_view path);

} // namespace flashlab
