/// A database in memory that holds the rows of one batch, made byte by byte, for SQLite to copy into the log.
///
/// Idea       What an INSERT costs is SQLite's program: a dozen instructions of it for each value that is bound, checked and packed. Here we pack the
///            rows ourselves, as cells in the leaves of tables of a small database that SQLite has attached. `INSERT INTO t SELECT * FROM batch.t`
///            between tables of the same definition copies whole records without looking into them. More than half of what is left SQLite spends
///            on looking for a row of the same key, even for keys that it gives itself. It does not where a table has no declared key. So our
///            connection reads the definitions without the words PRIMARY KEY: they are taken out in a transaction, read and rolled back. Nobody
///            else sees it. The rowid stays what it is, the key. Where rowids do not just go on counting, they are inserted with their columns.
/// Invariant  On this connection the column of the key is NULL: SQL says `rowid`. If somebody changes the schema, by an index say, SQLite reads the
///            true definitions and the same statements do the same, slower. SQLite reads the image only between publish() and the end of the
///            transaction; the bytes change only outside of that. Its change counter then tells SQLite to forget what it has read.
/// Cost       Some 30 ns a row to pack. To copy, 0.1 to 0.15 us if its rowid is the next one, 0.4 us otherwise. The image takes 300 bytes a row.
/// Source     https://www.sqlite.org/fileformat2.html; the copy of whole records is SQLite's "transfer optimization" of INSERT.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/log/sqlite.h"

namespace flashlab {

class SqliteBatchImage {
public:
    /// Attaches it as `batch`. `tables` are of the log and begin with their INTEGER PRIMARY KEY. Room for `most_rows`, of `most_cell_bytes` each.
    [[nodiscard]] static std::expected<SqliteBatchImage, std::string> attach(SqliteConnection& log, std::span<const std::string_view> tables,
                                                                             std::size_t most_rows, std::size_t most_cell_bytes);
    SqliteBatchImage() = default;

    /// No rows any more.
    void clear();
    /// The rows of one table, once after clear(): begin(), append() by ascending rowid, end().
    void begin(std::size_t table);
    /// False: no room.
    [[nodiscard]] bool append(std::int64_t rowid, std::span<const std::uint8_t> cell);
    void end();
    /// SQLite sees the rows from now on.
    void publish();
    /// Into the log, with the rowids that follow the greatest one there. False: the connection says why.
    [[nodiscard]] bool copy_behind(std::size_t table) { return tables_[table].copy_behind.step(); }
    /// Into the log, with the rowids that they have here.
    [[nodiscard]] bool copy(std::size_t table) { return tables_[table].copy.step(); }

private:
    static constexpr std::size_t page_bytes = 16384;
    struct Table {
        std::uint32_t root = 0; ///< number of its first page, from 1 on
        SqliteStatement copy_behind, copy;
    };
    [[nodiscard]] std::expected<void, std::string> make_empty(std::span<const std::string_view> tables, std::span<const std::string> definitions,
                                                              std::size_t most_rows, std::size_t most_cell_bytes);
    [[nodiscard]] std::expected<void, std::string> prepare_copies(SqliteConnection& log, std::span<const std::string_view> tables,
                                                                  std::span<const std::string> definitions);
    [[nodiscard]] std::uint8_t* page(std::uint32_t number) const { return bytes_ + (number - 1) * page_bytes; }
    [[nodiscard]] bool next_leaf();
    void close_leaf();

    std::uint8_t* bytes_ = nullptr; ///< SQLite's, until it closes the connection
    std::uint32_t pages_ = 0, first_free_page_ = 0;
    std::vector<Table> tables_;
    std::uint32_t counter_ = 0;
    // what is being filled
    std::uint32_t root_ = 0;
    std::uint32_t next_page_ = 0;
    std::uint32_t leaf_ = 0;                  ///< 0: none yet
    std::size_t cells_ = 0, cells_begin_ = 0; ///< of the leaf: how many, and where the last one begins
    std::int64_t last_rowid_ = 0;
    std::size_t full_leaves_ = 0, root_begin_ = 0; ///< in the root: how many it names, and where the last name begins
};

} // namespace flashlab
