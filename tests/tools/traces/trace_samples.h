/// A few lines of every trace format, made by hand, and the requests that they are.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/trace_reader.h"

namespace flashlab::test {

struct TraceSample {
    std::string format;
    std::string text;
    std::vector<TraceRequest> requests; ///< times relative to the first
};

[[nodiscard]] std::vector<TraceSample> text_trace_samples();
[[nodiscard]] std::vector<TraceSample> binary_trace_samples();

/// What reading the bytes comes to: the requests, or the error.
struct ReadTrace {
    std::vector<TraceRequest> requests;
    TraceCounts counts;
    std::string format, reason, error;
    std::vector<std::string> complaints;
};
[[nodiscard]] ReadTrace read_trace(const std::string& bytes, TraceOptions options = {}, const std::string& name = "sample.trace");

} // namespace flashlab::test
