/// What was recorded on a mount at level requests, as a trace: the host_request rows of a device's event log.
///
/// Idea       `flashlab replay DIR` answers which translation layer fits an application: record the application once, then replay it on each layer.
/// Invariant  Requests come in the order in which the drive received them. Times are the device's clock.
/// Cost       One row at a time; constant memory.
#pragma once

#include "tools/traces/trace_source.h"

namespace flashlab {

/// `path` is a device directory or an event log file. The error names the remedy when nothing was recorded.
[[nodiscard]] std::expected<std::unique_ptr<TraceSource>, std::string> make_recorded_source(const std::string& path);
/// Whether the path is a device directory or a file that SQLite wrote.
[[nodiscard]] bool is_recorded_trace(const std::string& path);

} // namespace flashlab
