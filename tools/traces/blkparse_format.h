/// blkparse's default text. One action of each request is read (issue D, queue Q or completion C); the summary at the end is ignored.
#pragma once

#include <memory>

#include "tools/traces/line_format.h"

namespace flashlab {

[[nodiscard]] std::unique_ptr<LineFormat> make_blkparse(char action);

/// Parses the letters of a request: "R", "WS", "FWFSM", "D", "N" … False if they name no data transfer, trim or flush.
[[nodiscard]] bool parse_rwbs(std::string_view rwbs, bool has_length, TraceRequest& request);

} // namespace flashlab
