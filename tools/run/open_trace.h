/// What the name of a trace means: a file, standard input, a device's event log, or a generated load (workload:NAME).
///
/// Idea       tools/traces knows nothing of generated loads, and tools/workloads reads no trace files. Only this file knows both.
/// Cost       As TraceReader.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "tools/traces/trace_reader.h"

namespace flashlab {

[[nodiscard]] std::expected<std::unique_ptr<TraceReader>, std::string> open_trace(const std::string& name, const TraceOptions& options);

} // namespace flashlab
