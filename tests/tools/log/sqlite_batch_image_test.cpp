// Rows that are packed by hand: the bytes are SQLite's own.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tests/support/catch.h"

#include "tools/log/sqlite.h"
#include "tools/log/sqlite_batch_image.h"
#include "tools/log/sqlite_cell.h"

using namespace flashlab;

namespace {

constexpr std::size_t columns = 3;
constexpr std::string_view definition = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL DEFAULT 0, c INTEGER) STRICT";
using Cell = SqliteCell<columns>;

struct Row {
    std::int64_t id = 0, a = 0, b = 0;
    std::optional<std::int64_t> c;
};

/// Around each number of bytes that a value may take, both signs.
std::vector<std::int64_t> edges() {
    std::vector<std::int64_t> out{0, 1, 2, -1, -2, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    for (int bits = 7; bits < 63; ++bits)
        for (const std::int64_t near : {-1, 0, 1})
            for (const std::int64_t sign : {-1, 1}) out.push_back(sign * ((std::int64_t{1} << bits) + near));
    return out;
}
std::vector<Row> rows_of_edges() {
    std::vector<Row> out;
    const auto values = edges();
    std::int64_t id = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::size_t other : {i, values.size() - 1 - i}) {
            out.push_back({id, values[i], values[other], i % 3 == 0 ? std::nullopt : std::optional{values[(i * 7) % values.size()]}});
            id = out.size() < 20 ? id + (std::int64_t{1} << 59) / 20 : static_cast<std::int64_t>(out.size() * out.size() * out.size());
        }
    out.back().id = std::numeric_limits<std::int64_t>::max();
    return out;
}
std::vector<Row> ordinary_rows(std::size_t count, std::int64_t first_id) {
    std::vector<Row> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto n = static_cast<std::int64_t>(i);
        out.push_back({first_id + 2 * n, n * n * 1'000'003, n % 2, n % 5 == 0 ? std::nullopt : std::optional{n << (n % 40)}});
    }
    return out;
}

class Log {
public:
    Log() : db_{SqliteConnection::open(":memory:", SqliteAccess::create)} {
        REQUIRE(db_.has_value());
        REQUIRE(db_->execute(definition).has_value());
    }
    [[nodiscard]] SqliteConnection& db() { return *db_; }
    void insert(const std::vector<Row>& rows) {
        auto statement = db_->prepare("INSERT INTO t VALUES(?,?,?,?)");
        REQUIRE(statement.has_value());
        for (const Row& row : rows) REQUIRE(statement->run(row.id, row.a, row.b, row.c));
    }
    /// The whole database.
    [[nodiscard]] std::vector<std::uint8_t> bytes() const {
        sqlite3_int64 size = 0;
        unsigned char* const image = sqlite3_serialize(db_->get(), "main", &size, 0);
        std::vector<std::uint8_t> out(image, image + size);
        sqlite3_free(image);
        return out;
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) { return db_->number(sql).value(); }
    /// A column of all rows.
    [[nodiscard]] std::vector<std::string> texts(std::string_view sql, int column) {
        const auto statement = db_->prepare(sql);
        REQUIRE(statement.has_value());
        std::vector<std::string> out;
        while (sqlite3_step(statement->get()) == SQLITE_ROW)
            out.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), column)));
        return out;
    }

private:
    std::expected<SqliteConnection, std::string> db_;
};

SqliteBatchImage attach(Log& log, std::size_t most_rows) {
    constexpr std::string_view table = "t";
    auto image = SqliteBatchImage::attach(log.db(), std::span{&table, 1}, most_rows, Cell::most_bytes);
    INFO((image ? "" : image.error()));
    REQUIRE(image.has_value());
    return std::move(*image);
}
[[nodiscard]] bool pack(SqliteBatchImage& image, const std::vector<Row>& rows) {
    image.clear();
    image.begin(0);
    bool has_room = true;
    for (const Row& row : rows) has_room = has_room && image.append(row.id, Cell{row.id, std::tuple{row.a, row.b, row.c}}.bytes());
    image.end();
    image.publish();
    return has_room;
}

} // namespace

TEST_CASE("a packed row is, byte by byte, what SQLite's INSERT makes of its values, whatever they are", "[tools][log]") {
    Log inserted, copied;
    auto image = attach(copied, 1000);
    const auto rows = rows_of_edges();
    inserted.insert(rows);
    REQUIRE(pack(image, rows));
    REQUIRE(image.copy(0));
    CHECK(copied.number("SELECT count(*) FROM t") == static_cast<std::int64_t>(rows.size()));
    CHECK(copied.bytes() == inserted.bytes());
}

TEST_CASE("batch after batch is copied as it is, the long ones and the short ones, and none of the one before", "[tools][log]") {
    Log inserted, copied;
    auto image = attach(copied, 20'000);
    std::int64_t id = 1;
    for (const std::size_t count : {1uz, 0uz, 2uz, 20'000uz, 3uz, 700uz, 5'000uz, 1uz}) {
        CAPTURE(count);
        const auto rows = ordinary_rows(count, id);
        id += static_cast<std::int64_t>(2 * count);
        REQUIRE(inserted.db().execute("BEGIN").has_value());
        inserted.insert(rows);
        REQUIRE(inserted.db().execute("COMMIT").has_value());
        REQUIRE(pack(image, rows));
        REQUIRE(copied.db().execute("BEGIN").has_value());
        REQUIRE(image.copy(0));
        REQUIRE(copied.db().execute("COMMIT").has_value());
        REQUIRE(copied.number("SELECT count(*) FROM batch.t") == static_cast<std::int64_t>(count));
    }
    CHECK(copied.bytes() == inserted.bytes());
}

TEST_CASE("the image is a sound database, and SQLite finds each row in it by its id", "[tools][log]") {
    Log log;
    auto image = attach(log, 3000);
    for (const std::size_t count : {3000uz, 0uz, 1uz, 2000uz}) {
        CAPTURE(count);
        REQUIRE(pack(image, ordinary_rows(count, -77)));
        CHECK(log.texts("PRAGMA batch.integrity_check", 0) == std::vector<std::string>{"ok"});
        CHECK(log.number("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999) SELECT count(*) FROM n JOIN batch.t ON "
                         "batch.t.rowid = 2 * i - 77 AND a = i * i * 1000003 AND b = i % 2") == static_cast<std::int64_t>(count));
    }
}

TEST_CASE("SQLite copies the rows as they are: its program packs none, and looks for no row of a number that it gives", "[tools][log]") {
    Log log;
    const auto image = attach(log, 10);
    const auto program = log.texts("EXPLAIN INSERT INTO main.t SELECT * FROM batch.t", 1);
    CHECK(std::ranges::count(program, "RowData") == 1);
    CHECK(std::ranges::count(program, "MakeRecord") == 0);
    CHECK(std::ranges::count(program, "NotExists") == 0);
}

TEST_CASE("rows that are copied behind others get the numbers that INSERT gives, and the definition stays, also where somebody adds an index",
          "[tools][log]") {
    Log inserted, copied;
    auto image = attach(copied, 1000);
    std::int64_t last = 0;
    for (const bool with_index : {false, true}) {
        for (const std::size_t count : {1uz, 900uz, 5uz}) {
            auto rows = ordinary_rows(count, 0);
            for (std::size_t i = 0; i < count; ++i) rows[i].id = ++last;
            inserted.insert(rows);
            for (std::size_t i = 0; i < count; ++i) rows[i].id = static_cast<std::int64_t>(i) + 1;
            REQUIRE(pack(image, rows));
            REQUIRE(image.copy_behind(0));
        }
        CHECK(copied.bytes() == inserted.bytes());
        const char* const index = "CREATE INDEX mine ON t(a)";
        if (!with_index) REQUIRE((inserted.db().execute(index).has_value() && copied.db().execute(index).has_value()));
    }
    CHECK(copied.texts("SELECT sql FROM main.sqlite_schema WHERE name = 't'", 0) == std::vector<std::string>{std::string{definition}});
    CHECK(copied.texts("PRAGMA main.integrity_check", 0) == std::vector<std::string>{"ok"});
}

TEST_CASE("rows that the image has no room for are refused, and an id that is there already is an error", "[tools][log]") {
    Log log;
    auto image = attach(log, 100);
    CHECK_FALSE(pack(image, ordinary_rows(10'000, 1)));
    REQUIRE(pack(image, ordinary_rows(100, 1)));
    REQUIRE(image.copy(0));
    REQUIRE(pack(image, ordinary_rows(1, 3)));
    CHECK_FALSE(image.copy(0));
    CHECK(log.number("SELECT count(*) FROM t") == 100);
}
