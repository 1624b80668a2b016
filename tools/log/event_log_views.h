/// The ready views of the event log.
///
/// Idea       A view is a name, a sentence and a query. The database, `query --views` and docs/event-log.md are made from the same list.
/// Invariant  A view uses tables of this version only, so a log that is upgraded gets all views anew.
/// Cost       None until somebody queries a view.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace flashlab {

struct LogView {
    std::string_view name, about, select; ///< select: all that follows AS
};

[[nodiscard]] std::span<const LogView> event_log_view_list();
/// CREATE VIEW statements with comments.
[[nodiscard]] std::string event_log_views();
/// The same for one connection: CREATE TEMP VIEW. It takes the place of the views of the file, whose version may be older.
/// A log whose tables lack columns that they use, `run` before version 10, `sample_scheme` before 11, `host_request` before 13, `gc_job` and
/// `block` before 16, gets views of those names as well.
[[nodiscard]] std::string event_log_temporary_views(std::int64_t version);
/// The version of the log since which the views are these.
inline constexpr int event_log_views_since = 21;
/// The version of the log since which a run says where its rows of nand_op and pram_write begin.
inline constexpr int run_spans_since = 10;
/// The version of the log since which samples count the pages that were read and hold nothing.
inline constexpr int unmapped_reads_since = 11;
/// The versions of the log since which a request says which piece it is, and in which queue it waited, how long.
inline constexpr int pieces_since = 5, queues_since = 13, streams_since = 21;
/// The version of the log since which blocks and collections say how many pages a block has.
inline constexpr int block_pages_since = 16;

} // namespace flashlab
