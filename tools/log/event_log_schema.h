/// The tables and views of the event log, as SQL and as documentation.
///
/// Idea       One text makes the database, `query --schema` prints it, docs/event-log.md explains it.
/// Invariant  user_version names the schema; a log of version 3 to 5 is brought up, one of another version is left alone and refused.
/// Cost       No secondary index while recording.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flashlab {

inline constexpr int event_log_version = 6;

/// CREATE TABLE statements with comments.
[[nodiscard]] std::string_view event_log_tables();
/// CREATE VIEW statements with comments.
[[nodiscard]] std::string_view event_log_views();
/// What a log of version 3 to 5 lacks, without its views. Its rows say nothing of the kinds of their pages (3) and of pieces.
[[nodiscard]] std::string event_log_upgrade(std::int64_t version);
/// INSERTs of the enum tables, from the names in base/events.h's order.
[[nodiscard]] std::string event_log_enums();

[[nodiscard]] std::string_view name_of_fs_op(std::uint8_t op);
[[nodiscard]] std::string_view name_of_cause(std::uint8_t cause);

} // namespace flashlab
