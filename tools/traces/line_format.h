/// A text format: what one line means.
///
/// Idea       A format sees lines one by one and keeps what it must between them (open files of a fio log).
/// Invariant  A line is a request, something else that the format knows, or bad with the field that is wrong: never silently dropped.
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
