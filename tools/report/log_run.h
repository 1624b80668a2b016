/// Which rows of a log belong to a run.
///
/// Idea       Ids, and the rows of nand_op and pram_write, are numbered on through the file: a run is a range of each. Times are none: runs of
///            other drives may have the same. They tell the rows of runs that were written before a run said where they begin.
/// Cost       A few rows.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/report/log_rows_reader.h"

namespace flashlab {

struct LogRunRange {
    std::int64_t run = 0;
    std::string kind, version, config_toml, config_hash;
    std::int64_t seed = 0, page_bytes = 0, rows_dropped = 0;
    std::int64_t first_id = 0, last_id = 0;                            ///< ids are greater than first_id, up to last_id
    std::pair<std::int64_t, std::int64_t> operations{}, pram_writes{}; ///< numbers of rows are greater than the first, up to the second
    std::int64_t from_ns = 0, to_ns = 0;                               ///< rows that have such numbers begin from here on, and before
    std::int64_t start_ns = 0, end_ns = 0;                             ///< the end is that of the last sample
    /// The value of a key of the configuration, without quotes; empty: it has none.
    [[nodiscard]] std::string setting(const std::string& key) const;
    /// A condition on host_request.id, fs_op.id or gc_job.id.
    [[nodiscard]] std::string ids() const;
    /// A condition on the rows of nand_op or pram_write.
    [[nodiscard]] std::string rows(std::string_view table) const;
};

/// Of a run by number; otherwise the last one in which the host read or wrote.
[[nodiscard]] std::expected<LogRunRange, std::string> find_run(LogRowsReader& log, std::optional<std::int64_t> run);

} // namespace flashlab
