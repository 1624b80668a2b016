/// SQLite with owners for its handles: the small part of it that the event log and `query` need.
///
/// Idea       A connection and prepared statements. Every failure is a sentence.
/// Invariant  A statement is destroyed before its connection.
/// Threading  One thread at a time.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace flashlab {

/// create_no_link: no part of the path may be a symbolic link.
enum class SqliteAccess : std::uint8_t { read_only, create, create_no_link };

class SqliteStatement {
public:
    SqliteStatement() = default;
    explicit SqliteStatement(sqlite3_stmt* statement);
    /// Binds in order of the question marks, runs, resets. False: the connection says why.
    template <class... Values>
    [[nodiscard]] bool run(const Values&... values) {
        (void)bind_after(0, values...);
        return step();
    }
    /// Binds the question marks that follow the first `bound`; how many are bound then.
    template <class... Values>
    int bind_after(int bound, const Values&... values) {
        (bind(++bound, values), ...);
        return bound;
    }
    /// Runs with what is bound, and resets. What is bound stays.
    [[nodiscard]] bool step();
    /// Runs and resets; first column of the first row, 0 when there is none. Nothing: the connection says why.
    [[nodiscard]] std::optional<std::int64_t> number();
    [[nodiscard]] sqlite3_stmt* get() const { return statement_.get(); }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    void bind(int at, std::int64_t value);
    void bind(int at, std::uint64_t value) { bind(at, static_cast<std::int64_t>(value)); }
    void bind(int at, std::uint32_t value) { bind(at, std::int64_t{value}); }
    void bind(int at, int value) { bind(at, std::int64_t{value}); }
    void bind(int at, double value);
    void bind(int at, bool value) { bind(at, std::int64_t{value}); }
    void bind(int at, std::string_view value);
    void bind(int at, const std::string& value) { bind(at, std::string_view{value}); }
    template <class Value>
    void bind(int at, const std::optional<Value>& value) {
        if (value)
            bind(at, *value);
        else
            bind_null(at);
    }
    void bind_null(int at);
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteConnection {
public:
    [[nodiscard]] static std::expected<SqliteConnection, std::string> open(const std::string& path, SqliteAccess access);
    [[nodiscard]] std::expected<void, std::string> execute(std::string_view sql);
    [[nodiscard]] std::expected<SqliteStatement, std::string> prepare(std::string_view sql);
    /// First column of the first row; 0 when there is none.
    [[nodiscard]] std::expected<std::int64_t, std::string> number(std::string_view sql);
    [[nodiscard]] std::string error() const;
    [[nodiscard]] sqlite3* get() const { return db_.get(); }

private:
    struct Close {
        void operator()(sqlite3* db) const;
    };
    explicit SqliteConnection(sqlite3* db) : db_{db} {}
    std::unique_ptr<sqlite3, Close> db_;
};

} // namespace flashlab
