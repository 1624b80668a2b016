/// fio's I/O logs: version 2 (no times), version 3 (begins with microseconds), and the obsolete version 1 (op, offset, length).
///
/// Idea       Each file of the log is a device: it has addresses of its own.
/// Cost       A search in the log's list of files for each line.
#pragma once

#include <memory>

#include "tools/traces/line_format.h"

namespace flashlab {

[[nodiscard]] std::unique_ptr<LineFormat> make_fio_log(char action);

} // namespace flashlab
