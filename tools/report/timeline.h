/// A window of a log as a timeline for the Perfetto UI, in the JSON trace event format.
///
/// Idea       A process a layer, a track a resource: calls of applications, requests of the host, its link, channels, planes, collections, PRAM, and
///            the caches' counters. An arrow leads from each request or collection to each operation that it caused.
/// Invariant  Slices of one track lie apart or one within the other: what overlaps gets a further track, and is counted where none is left. Times are
///            the log's, to the nanosecond. Every arrow has both ends in the file.
/// Cost       About 300 bytes and a microsecond an operation. Memory for the requests of the window alone.
/// Source     The trace event format, which Perfetto reads.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "tools/host/aside_file.h"
#include "tools/report/log_rows_reader.h"

namespace flashlab {

struct TimelineWindow {
    std::int64_t from_ns = 0; ///< after the run's beginning
    std::optional<std::int64_t> to_ns{};
    std::optional<std::int64_t> run{};
};
struct TimelineCount {
    std::uint64_t slices = 0, arrows = 0, counters = 0;
    std::uint64_t left_out = 0; ///< slices that found no track free
};

/// Writes what lies in the window, in whole or in part. The file is not committed.
[[nodiscard]] std::expected<TimelineCount, std::string> write_timeline(const std::string& log_path, const TimelineWindow& window, AsideFile& to,
                                                                       const ReadProgress& progress);

} // namespace flashlab
