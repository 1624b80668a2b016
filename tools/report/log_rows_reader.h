/// Rows of an event log for the report and for exports: opened for reading, with every ready view.
///
/// Idea       The views are made anew as temporary ones, so that a log of an older version, which nobody may change, can be asked like a new one.
/// Invariant  The file is not written. A signal that Interruption notes ends what is being read as a failure. A table that the log's version lacks
///            has no rows.
/// Cost       Opening reads the schema.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/log/sqlite.h"
#include "tools/text/json.h"

namespace flashlab {

/// Is told now and then how many rows have been read.
using ReadProgress = std::function<void(std::uint64_t)>;

/// One row while it is being read.
class LogRow {
public:
    explicit LogRow(sqlite3_stmt* row) : row_{row} {}
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    /// As it is: null, a number or a text.
    [[nodiscard]] Json cell(int column) const;

private:
    sqlite3_stmt* row_;
};

class LogRowsReader {
public:
    [[nodiscard]] static std::expected<LogRowsReader, std::string> open(const std::string& path);
    [[nodiscard]] bool has_table(std::string_view name);
    /// Calls `each` for every row.
    [[nodiscard]] std::expected<void, std::string> read(std::string_view sql, const std::function<void(const LogRow&)>& each,
                                                        const ReadProgress& progress = {});
    /// {"columns": [...], "rows": [[...], ...]}, at most `most` rows.
    [[nodiscard]] std::expected<Json, std::string> table(std::string_view sql, std::size_t most = 100000);
    /// First column of the first row.
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view sql);
    [[nodiscard]] SqliteConnection& db() { return db_; }
    /// From now on `tell` hears how many steps SQLite's machine has made, every few milliseconds, within one query, too. Empty: nobody does.
    void tell_steps(std::function<void(std::uint64_t)> tell);

private:
    struct Steps {
        std::uint64_t made = 0;
        std::function<void(std::uint64_t)> tell{};
    };
    explicit LogRowsReader(SqliteConnection db);
    static int step_made(void* steps);
    std::unique_ptr<Steps> steps_ = std::make_unique<Steps>(); ///< SQLite keeps its address; declared first, so that it outlives the connection
    SqliteConnection db_;
};

} // namespace flashlab
