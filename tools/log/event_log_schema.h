/// The tables of the event log, as SQL.
///
/// Idea       tools/log/event_tables.h describes the tables. This file turns the descriptions into the SQL that makes the database and that `query
///            --schema` prints.
/// Invariant  user_version names the schema. A log of version 3 or later is upgraded. A log of any other version is refused and left as it is.
/// Cost       No secondary index while recording.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/log/event_table.h"

namespace flashlab {

/// The latest version that a table or a column came with.
[[nodiscard]] int event_log_version();
/// In the order of the SQL.
[[nodiscard]] const std::vector<TableDescription>& event_log_descriptions();
[[nodiscard]] std::span<const NameTable> event_log_name_tables();

/// CREATE TABLE statements with comments.
[[nodiscard]] std::string event_log_tables();
/// What a log of an older version lacks, without its views. In its rows the columns that are added say 0 or NULL.
[[nodiscard]] std::string event_log_upgrade(std::int64_t version);
/// INSERTs of the tables of names.
[[nodiscard]] std::string event_log_enums();

[[nodiscard]] std::string_view name_of_fs_op(std::uint8_t op);
[[nodiscard]] std::string_view name_of_cause(std::uint8_t cause);

} // namespace flashlab
