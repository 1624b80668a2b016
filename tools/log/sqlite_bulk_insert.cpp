#include "tools/log/sqlite_bulk_insert.h"

#include <fmt/format.h>

namespace flashlab {

std::expected<SqliteBulkInsert, std::string> SqliteBulkInsert::make(SqliteConnection& db, std::string_view table, std::string_view row) {
    std::string sql = fmt::format("INSERT INTO {} VALUES{}", table, row);
    auto one = db.prepare(sql);
    if (!one) return std::unexpected(one.error());
    for (std::size_t i = 1; i < rows_at_once; ++i) sql += fmt::format(",{}", row);
    auto many = db.prepare(sql);
    if (!many) return std::unexpected(many.error());
    SqliteBulkInsert made;
    made.one_ = std::move(*one);
    made.many_ = std::move(*many);
    return made;
}

} // namespace flashlab
