/// The database side of the event log: opening, rows, the size cap. Used on the log's own thread.
///
/// Idea       Prepared statements; the tables with a row for each operation get many rows by one step. A batch is one transaction.
/// Invariant  Ids in the file = base of the run + id of the event, so that they stay unique over all runs.
/// Cost       About half a microsecond a row of fs_op or host_request.
/// Power cut  A batch is in the file wholly or not at all.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "tools/host/log_lock.h"
#include "tools/log/sqlite.h"
#include "tools/log/sqlite_bulk_insert.h"
#include "tools/log/sqlite_event_log.h"

namespace flashlab {

class EventLogWriter {
public:
    /// Begins a run, or goes on with `run` if the file has it, adding `lost` rows to its rows_dropped.
    [[nodiscard]] static std::expected<std::unique_ptr<EventLogWriter>, std::string> open(const EventLogConfig& config, const std::optional<LogRun>& run = {},
                                                                                         std::uint64_t lost = 0);
    [[nodiscard]] LogRun run() const { return run_; }
    [[nodiscard]] std::expected<void, std::string> write(const EventBatch& batch);
    enum class RunEnd : std::uint8_t { whole, partial };
    /// Leaves WAL mode. The kind of a partial run ends in " (partial)".
    void close(RunEnd end);

private:
    EventLogWriter(LogLock lock, SqliteConnection db) : lock_{std::move(lock)}, db_{std::move(db)} {}
    [[nodiscard]] std::expected<void, std::string> make_schema();
    [[nodiscard]] std::expected<void, std::string> upgrade(std::int64_t version);
    [[nodiscard]] std::expected<void, std::string> begin_run(const EventLogConfig& config);
    [[nodiscard]] std::expected<bool, std::string> continue_run(const LogRun& run, std::uint64_t lost);
    [[nodiscard]] std::expected<void, std::string> prepare_all();
    [[nodiscard]] bool write_rows(const EventBatch& batch);
    [[nodiscard]] bool write_samples(const EventBatch& batch);
    [[nodiscard]] bool write_sample(const SampleEvent& sample, const SampleDetails& details);
    [[nodiscard]] std::expected<void, std::string> keep_within_cap();
    [[nodiscard]] std::optional<std::uint64_t> id_of(EventId id) const;

    LogLock lock_; ///< outlives the connection: closing it first would take SQLite's own locks away
    SqliteConnection db_;
    LogRun run_;
    std::uint64_t keep_bytes_ = 0;
    std::int64_t page_bytes_ = 4096; ///< of the database
    SqliteBulkInsert host_request_, fs_op_, nand_op_, gc_job_, pram_write_;
    SqliteStatement uncorrectable_read_, unreadable_file_, power_, sample_, sample_nand_, sample_channel_, fs_latency_, wear_, partition_, used_pages_;
};

} // namespace flashlab
