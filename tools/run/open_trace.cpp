#include "tools/run/open_trace.h"

#include "tools/workloads/workload_source.h"

namespace flashlab {

std::expected<std::unique_ptr<TraceReader>, std::string> open_trace(const std::string& name, const TraceOptions& options) {
    if (is_workload_name(name)) return TraceReader::read(name, "workload", "named", options, make_workload_source(name));
    return TraceReader::open(name, options);
}

} // namespace flashlab
