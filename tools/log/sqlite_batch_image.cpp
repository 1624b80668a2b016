#include "tools/log/sqlite_batch_image.h"

#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/log/sqlite_cell.h"

namespace flashlab {
namespace {

// Of a page of a table: type, first free block (2 bytes), cells (2), where their bytes begin (2), fragments; an interior page: its last child (4).
constexpr std::uint8_t interior_page = 5, leaf_page = 13;
constexpr std::size_t leaf_header = 8, interior_header = 12, pointer = 2, child = 4, longest_varint = 9;
constexpr std::size_t at_change_counter = 24, at_pages = 28, at_counter_of_pages = 92; // in the file's header

void put16(std::uint8_t* at, std::size_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}
void put_page_header(std::uint8_t* page, std::uint8_t type, std::size_t cells, std::size_t cells_begin) {
    page[0] = type;
    put16(page + 1, 0);
    put16(page + 3, cells);
    put16(page + 5, cells_begin);
    page[7] = 0;
}
std::expected<std::string, std::string> text_of(SqliteConnection& log, const std::string& sql) {
    const auto found = log.prepare(sql);
    if (!found) return std::unexpected(found.error());
    if (sqlite3_step(found->get()) != SQLITE_ROW) return std::unexpected("nothing: " + sql);
    return reinterpret_cast<const char*>(sqlite3_column_text(found->get(), 0));
}
std::expected<std::string, std::string> definition_of(SqliteConnection& log, std::string_view table) {
    return text_of(log, fmt::format("SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = '{}'", table));
}
std::string without_key(std::string sql) {
    constexpr std::string_view key = " PRIMARY KEY";
    if (const auto at = sql.find(key); at != std::string::npos) sql.erase(at, key.size());
    return sql;
}
std::string sql_literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    return out + "'";
}

} // namespace

std::expected<SqliteBatchImage, std::string> SqliteBatchImage::attach(SqliteConnection& log, std::span<const std::string_view> tables,
                                                                      std::size_t most_rows, std::size_t most_cell_bytes) {
    std::vector<std::string> definitions;
    for (const std::string_view table : tables) {
        auto sql = definition_of(log, table);
        if (!sql) return std::unexpected(sql.error());
        definitions.push_back(without_key(*sql));
    }
    SqliteBatchImage made;
    if (auto done = made.make_empty(tables, definitions, most_rows, most_cell_bytes); !done) return std::unexpected(done.error());
    const auto size = static_cast<sqlite3_int64>(made.pages_ * page_bytes);
    if (auto done = log.execute("ATTACH ':memory:' AS batch"); !done) {
        sqlite3_free(made.bytes_);
        return std::unexpected(done.error());
    }
    if (sqlite3_deserialize(log.get(), "batch", made.bytes_, size, size, SQLITE_DESERIALIZE_FREEONCLOSE) != SQLITE_OK) // frees them then, too
        return std::unexpected(log.error());
    if (auto done = made.prepare_copies(log, tables, definitions); !done) return std::unexpected(done.error());
    return made;
}

std::expected<void, std::string> SqliteBatchImage::make_empty(std::span<const std::string_view> tables, std::span<const std::string> definitions,
                                                              std::size_t most_rows, std::size_t most_cell_bytes) {
    auto empty = SqliteConnection::open(":memory:", SqliteAccess::create);
    if (!empty) return std::unexpected(empty.error());
    if (auto done = empty->execute(fmt::format("PRAGMA page_size={}", page_bytes)); !done) return done;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (auto done = empty->execute(definitions[i]); !done) return done;
        const auto root = empty->number(fmt::format("SELECT rootpage FROM sqlite_schema WHERE name = '{}'", tables[i]));
        if (!root) return std::unexpected(root.error());
        tables_.push_back({static_cast<std::uint32_t>(*root), {}, {}});
    }
    sqlite3_int64 empty_bytes = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> image{sqlite3_serialize(empty->get(), "main", &empty_bytes, 0), sqlite3_free};
    const std::size_t rows_of_a_leaf = (page_bytes - leaf_header) / (most_cell_bytes + pointer);
    first_free_page_ = static_cast<std::uint32_t>(static_cast<std::size_t>(empty_bytes) / page_bytes) + 1;
    pages_ = first_free_page_ + static_cast<std::uint32_t>(most_rows / rows_of_a_leaf + tables.size());
    if (image != nullptr) bytes_ = static_cast<std::uint8_t*>(sqlite3_malloc64(pages_ * page_bytes));
    if (bytes_ == nullptr) return std::unexpected("out of memory");
    std::memset(bytes_, 0, pages_ * page_bytes);
    std::memcpy(bytes_, image.get(), static_cast<std::size_t>(empty_bytes));
    clear();
    publish();
    return {};
}

std::expected<void, std::string> SqliteBatchImage::prepare_copies(SqliteConnection& log, std::span<const std::string_view> tables,
                                                                  std::span<const std::string> definitions) {
    if (auto done = log.execute("BEGIN; PRAGMA writable_schema=ON"); !done) return done;
    for (std::size_t i = 0; i < tables.size(); ++i)
        // Refused: then the copies are slower.
        (void)log.execute(
            fmt::format("UPDATE main.sqlite_schema SET sql = {} WHERE type = 'table' AND name = '{}'", sql_literal(definitions[i]), tables[i]));
    std::expected<void, std::string> done = log.execute("PRAGMA writable_schema=RESET"); // what is prepared from now on reads the schema again
    for (std::size_t i = 0; i < tables.size() && done; ++i) {
        auto columns = text_of(log, fmt::format("SELECT group_concat(name) FROM pragma_table_info('{}') WHERE cid > 0", tables[i]));
        auto behind = log.prepare(fmt::format("INSERT INTO main.{0} SELECT * FROM batch.{0}", tables[i]));
        auto copy = log.prepare(fmt::format("INSERT INTO main.{0}(rowid,{1}) SELECT rowid,{1} FROM batch.{0}", tables[i], columns.value_or("")));
        if (behind && copy)
            tables_[i] = {tables_[i].root, std::move(*behind), std::move(*copy)};
        else
            done = std::unexpected(!behind ? behind.error() : copy.error());
    }
    auto undone = log.execute("ROLLBACK");
    return done ? undone : done;
}

void SqliteBatchImage::clear() {
    for (const Table& table : tables_) put_page_header(page(table.root), leaf_page, 0, page_bytes);
    next_page_ = first_free_page_;
}

void SqliteBatchImage::begin(std::size_t table) {
    root_ = tables_[table].root;
    leaf_ = 0;
    full_leaves_ = 0;
    root_begin_ = page_bytes;
}

bool SqliteBatchImage::append(std::int64_t rowid, std::span<const std::uint8_t> cell) {
    if (leaf_ == 0 || cells_begin_ < leaf_header + pointer * (cells_ + 1) + cell.size())
        if (!next_leaf()) return false;
    cells_begin_ -= cell.size();
    std::uint8_t* const leaf = page(leaf_);
    std::memcpy(leaf + cells_begin_, cell.data(), cell.size());
    put16(leaf + leaf_header + pointer * cells_, cells_begin_);
    ++cells_;
    last_rowid_ = rowid;
    return true;
}

bool SqliteBatchImage::next_leaf() {
    if (next_page_ > pages_) return false;
    if (leaf_ != 0) {
        close_leaf();
        if (root_begin_ < interior_header + pointer * (full_leaves_ + 1) + child + longest_varint) return false;
        std::uint8_t* const root = page(root_);
        std::uint8_t* const key = put_sqlite_varint_before(root + root_begin_, static_cast<std::uint64_t>(last_rowid_));
        root_begin_ = static_cast<std::size_t>(key - root) - child;
        put32(root + root_begin_, leaf_);
        put16(root + interior_header + pointer * full_leaves_, root_begin_);
        ++full_leaves_;
    }
    leaf_ = next_page_++;
    cells_ = 0;
    cells_begin_ = page_bytes;
    return true;
}

void SqliteBatchImage::close_leaf() { put_page_header(page(leaf_), leaf_page, cells_, cells_begin_); }

void SqliteBatchImage::end() {
    if (leaf_ == 0) return;
    close_leaf();
    if (full_leaves_ == 0) { // the root is the leaf: SQLite wants no root with a single child
        std::memcpy(page(root_), page(leaf_), page_bytes);
        --next_page_;
    } else {
        put_page_header(page(root_), interior_page, full_leaves_, root_begin_);
        put32(page(root_) + leaf_header, leaf_);
    }
}

void SqliteBatchImage::publish() {
    put32(bytes_ + at_change_counter, ++counter_);
    put32(bytes_ + at_pages, next_page_ - 1);
    put32(bytes_ + at_counter_of_pages, counter_);
}

} // namespace flashlab
