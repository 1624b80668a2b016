/// blkparse's default text: one action of each request (issue D, queue Q or completion C), the summary at the end passed over.
#pragma once

#include <memory>

#include "tools/traces/line_format.h"

namespace flashlab {

[[nodiscard]] std::unique_ptr<LineFormat> make_blkparse(char action);

/// "R", "WS", "FWFSM", "D", "N" …: false when it names no data transfer, trim or flush.
[[nodiscard]] bool parse_rwbs(std::string_view rwbs, bool has_length, TraceOp& op);

} // namespace flashlab
