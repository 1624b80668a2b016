/// What a run of an event log was: the object that the report's page shows.
///
/// Idea       Numbers that belong to the whole run come from SQL. What is spread over time is read row by row, once, into a few hundred bins.
/// Invariant  Totals are those of the run's last sample, so they are the device's counters. What the log's level did not record is null.
/// Cost       Level summary: milliseconds. Above: about a microsecond a row; memory does not grow with the rows.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "tools/report/blame_table.h"
#include "tools/report/log_rows_reader.h"
#include "tools/text/json.h"

namespace flashlab {

struct LogReportOptions {
    std::optional<std::int64_t> run{}; ///< otherwise the last one in which the host read or wrote
    ReadProgress progress{};
    BlameProgress blame_progress{};
};

[[nodiscard]] std::expected<Json, std::string> report_log(const std::string& path, const std::string& name, const LogReportOptions& options);

} // namespace flashlab
