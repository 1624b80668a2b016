/// The database side of the event log: opening, rows, the size cap. It is used on the log's own thread.
///
/// Idea       A batch is one transaction. The rows of a table of details, which are many, are packed into an image and copied as they are. The
///            other tables have prepared INSERTs that follow from their descriptors: one for a single row, one for many rows in one step.
/// Invariant  Id in the file = base of the run + id of the event. So ids are unique over all runs.
/// Cost       A fifth of a microsecond a row of details that is numbered or whose id is one of the next, two fifths another one.
/// Power cut  A batch is in the file wholly or not at all.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tools/host/log_lock.h"
#include "tools/log/event_batch.h"
#include "tools/log/event_tables.h"
#include "tools/log/sqlite.h"
#include "tools/log/sqlite_batch_image.h"
#include "tools/log/sqlite_bulk_insert.h"
#include "tools/log/sqlite_event_log.h"

namespace flashlab {

class EventLogWriter {
public:
    /// Begins a run, or goes on with `run` if the file has it, adding `lost` rows to its rows_dropped. A batch has at most `most_events`.
    [[nodiscard]] static std::expected<std::unique_ptr<EventLogWriter>, std::string>
    open(const EventLogConfig& config, std::size_t most_events, const std::optional<LogRun>& run = {}, std::uint64_t lost = 0);
    [[nodiscard]] LogRun run() const { return run_; }
    [[nodiscard]] std::expected<void, std::string> write(const EventBatch& batch);
    enum class RunEnd : std::uint8_t { whole, partial };
    /// Leaves WAL mode. The kind of a partial run ends in " (partial)".
    /// Puts all into one file. If that fails, rows lie in the file beside it that ends in -wal, and the two belong together.
    [[nodiscard]] std::expected<void, std::string> close(RunEnd end);

private:
    EventLogWriter(LogLock lock, SqliteConnection db) : lock_{std::move(lock)}, db_{std::move(db)} {}
    [[nodiscard]] std::expected<void, std::string> make_schema();
    [[nodiscard]] std::expected<void, std::string> upgrade(std::int64_t version);
    [[nodiscard]] std::expected<void, std::string> begin_run(const EventLogConfig& config);
    [[nodiscard]] std::expected<bool, std::string> continue_run(const LogRun& run, std::uint64_t lost);
    [[nodiscard]] std::expected<void, std::string> prepare_all(std::size_t most_events);
    template <class Row>
    [[nodiscard]] bool insert(std::span<const Row> rows);
    template <class Row>
    [[nodiscard]] bool insert(const Row& row) {
        return insert(std::span{&row, 1});
    }
    /// Packs the rows of the batch that are copied.
    [[nodiscard]] std::expected<void, std::string> fill_image(const EventBatch& batch);
    template <class Row>
    [[nodiscard]] std::expected<void, std::string> pack(std::span<const Row> rows);
    template <class Row>
    [[nodiscard]] bool copy_or_insert(std::span<const Row> rows);
    [[nodiscard]] bool write_rows(const EventBatch& batch);
    [[nodiscard]] bool take_back_what_cuts_undid(const EventBatch& batch);
    [[nodiscard]] bool write_samples(const EventBatch& batch);
    [[nodiscard]] bool write_sample(const SampleEvent& sample, const SampleDetails& details);
    [[nodiscard]] bool tell_counter(const OwnCount& own);
    [[nodiscard]] std::expected<void, std::string> keep_within_cap();

    /// The INSERTs of a table, told apart by its rows.
    template <class Row>
    struct TableInsert {
        SqliteBulkInsert sql;
    };
    template <class... Tables>
    static auto inserts_of(const std::tuple<Tables...>&) -> std::tuple<TableInsert<typename Tables::Row>...>;

    LogLock lock_; ///< outlives the connection: closing it first would take SQLite's own locks away
    SqliteConnection db_;
    LogRun run_;
    std::uint64_t keep_bytes_ = 0;
    std::vector<std::string> told_counters_;   ///< what these of the run's own counters mean
    std::int64_t page_bytes_ = 4096;           ///< of the database
    decltype(inserts_of(all_tables)) inserts_; ///< of those that are not copied
    SqliteBatchImage image_;
    struct Details {
        SqliteStatement greatest_rowid;
        std::optional<std::int64_t> last_behind{}; ///< of the batch's rows, if they are copied behind those that are there and say where
        bool are_behind = false;
        SqliteStatement remove{};
        std::vector<std::int64_t> left_out{}; ///< rowids between those of the batch's rows: empty rows are copied there and removed again
    };
    std::vector<Details> details_; ///< by table of the image
    SqliteStatement used_pages_;
};

} // namespace flashlab
