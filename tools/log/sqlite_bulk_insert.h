/// Inserts rows of integers into one table, many rows in one step of SQLite.
///
/// Idea       There are two prepared INSERTs, one of a single row and one of rows_at_once rows. One step costs as much as several rows. Rows that do
///            not fill the long INSERT go through the short one.
/// Invariant  Rows are inserted in the order in which they come. If a step fails outside of a transaction, some rows may already be in the table.
/// Cost       About half of what single steps take (docs/performance.md).
/// Power cut  Up to the transaction around it.
#pragma once

#include <span>
#include <tuple>

#include "tools/log/sqlite.h"

namespace flashlab {

class SqliteBulkInsert {
public:
    static constexpr std::size_t rows_at_once = 32;

    /// `row`: the values of one, in parentheses, question marks for what is bound.
    [[nodiscard]] static std::expected<SqliteBulkInsert, std::string> make(SqliteConnection& db, std::string_view table, std::string_view row);

    /// values_of(item) -> std::tuple of what a row binds, in order. False: the connection says why.
    template <class Item, class ValuesOf>
    [[nodiscard]] bool insert(std::span<const Item> items, const ValuesOf& values_of) {
        for (; items.size() >= rows_at_once; items = items.subspan(rows_at_once)) {
            int bound = 0;
            for (const Item& item : items.first(rows_at_once)) bound = bind(many_, bound, values_of(item));
            if (!many_.step()) return false;
        }
        for (const Item& item : items) {
            (void)bind(one_, 0, values_of(item));
            if (!one_.step()) return false;
        }
        return true;
    }

private:
    template <class Values>
    static int bind(SqliteStatement& statement, int bound, const Values& values) {
        return std::apply([&](const auto&... value) { return statement.bind_after(bound, value...); }, values);
    }
    SqliteStatement many_, one_;
};

} // namespace flashlab
