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

/// What a line of a text format means, field by field.
struct TextTraceLine {
    std::string format;
    std::string header; ///< lines before the first request
    std::string line;   ///< of a request
    char separator;
    std::string kinds;     ///< a letter for each field: place, length, time, op, queue; '.' for any other
    bool is_exact;         ///< one column more is one too many
    std::string columns{}; ///< of a user's own format
};
/// Of every text format.
[[nodiscard]] std::vector<TextTraceLine> text_trace_lines();

[[nodiscard]] std::vector<TraceSample> text_trace_samples();
[[nodiscard]] std::vector<TraceSample> binary_trace_samples();
/// Two writes of blktrace, the second with FUA.
[[nodiscard]] std::string fua_blktrace();

/// What reading the bytes comes to: the requests, or the error.
struct ReadTrace {
    std::vector<TraceRequest> requests;
    TraceCounts counts;
    std::string format, reason, error;
    std::vector<std::string> complaints;
};
[[nodiscard]] ReadTrace read_trace_file(const std::string& path, TraceOptions options = {});
[[nodiscard]] ReadTrace read_trace(const std::string& bytes, TraceOptions options = {}, const std::string& name = "sample.trace");

} // namespace flashlab::test
