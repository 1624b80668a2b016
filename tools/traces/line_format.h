/// A text format: what one line means.
///
/// Idea       A format sees lines one by one. It keeps what it needs from line to line (open files of a fio log).
/// Invariant  A line is a request, or something else that the format knows, or bad with the field that is wrong. It is never dropped silently.
/// Cost       One virtual call a line.
#pragma once

#include <memory>
#include <string>

#include "tools/traces/trace_request.h"

namespace flashlab {

class LineFormat {
public:
    virtual ~LineFormat() = default;
    [[nodiscard]] virtual TraceParse parse(std::string_view line, TraceRequest& request) = 0;
};

} // namespace flashlab
