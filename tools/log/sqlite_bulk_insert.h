/// Rows of integers into one table, many with one step of SQLite.
///
/// Idea       Two prepared INSERTs, of one row and of rows_at_once: a step costs as much as some rows. What does not fill the long one goes through the short.
/// Invariant  Rows go in as they come. Without a transaction around it some of them may be in when it fails.
/// Cost       About half of what single steps take (docs/performance.md).
/// Power cut  Its transaction's.
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
