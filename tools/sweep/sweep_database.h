/// Results of a sweep as an SQLite database: a shard's, or all of them merged.
///
/// Idea       The database is built in memory from sorted records, and is given its name when it is complete. No process ever writes into one that
///            others may read, and no lock of SQLite is needed on a network file system.
/// Invariant  The same records give the same bytes, with one version of SQLite. Columns that depend on the host are named `wall_…` or
///            `peak_rss_bytes`.
/// Cost       All records in memory, some five kilobytes each.
/// Power cut  Of the host: the old file, or the new one, as far as the host's file system keeps a rename.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>

#include "tools/sweep/sweep_record.h"

namespace flashlab {

/// By id.
using SweepRecords = std::map<std::string, SweepRecord>;

/// Adds a record. A result takes the place of a failure; of two equal results the one that took less wall time stays. Two results that differ are an
/// error.
[[nodiscard]] std::expected<void, std::string> add_record(SweepRecords& records, SweepRecord record);

/// none: columns that depend on the host are empty, so that two databases of the same results are equal byte by byte.
enum class HostColumns : std::uint8_t { kept, none };

[[nodiscard]] std::expected<SweepRecords, std::string> read_sweep_database(const std::string& path);
[[nodiscard]] std::expected<void, std::string> write_sweep_database(const std::string& path, const SweepRecords& records, HostColumns host);

} // namespace flashlab
