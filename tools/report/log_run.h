/// Which rows of a log belong to a run.
///
/// Idea       Ids are numbered on through the file, times go on over the mounts of a drive: a run is a range of both.
/// Cost       A few rows.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "tools/report/log_rows_reader.h"

namespace flashlab {

struct LogRunRange {
    std::int64_t run = 0;
    std::string kind, version, config_toml, config_hash;
    std::int64_t seed = 0, page_bytes = 0, rows_dropped = 0;
    std::int64_t first_id = 0, last_id = 0; ///< ids are greater than first_id, up to last_id
    std::int64_t start_ns = 0, end_ns = 0;  ///< the end is that of the last sample
    std::int64_t next_start_ns = 0;         ///< of the run after it; rows are before
    /// The value of a key of the configuration, without quotes; empty: it has none.
    [[nodiscard]] std::string setting(const std::string& key) const;
    /// Conditions on host_request.id or fs_op.id, and on the times of rows.
    [[nodiscard]] std::string ids() const;
    [[nodiscard]] std::string times() const;
};

/// Of a run by number; otherwise the last one in which the host read or wrote.
[[nodiscard]] std::expected<LogRunRange, std::string> find_run(LogRowsReader& log, std::optional<std::int64_t> run);

} // namespace flashlab
