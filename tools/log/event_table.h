/// The description of a table of the event log. The SQL, the insert and the page of documentation are made from it.
///
/// Idea       A table is a name, a level, a sentence and columns. A column is a name, a comment and what it takes out of a row: a member or a
///            function. The type of that value gives the rest: the SQL type, the unit of a time, the table that a number refers to.
/// Invariant  Columns of later versions stand last, because ALTER TABLE adds them there.
/// Cost       None when rows are written: the columns are a tuple that the compiler sees through.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/events.h"
#include "tools/log/log_rows.h"

namespace flashlab {

/// The first version of the log that can be brought up.
inline constexpr int oldest_log_version = 3;

struct TableText {
    std::string_view name;
    std::optional<EventLevel> level{}; ///< from which on it has rows
    std::string_view about{};          ///< in the SQL and on the page
    std::string_view more{};           ///< on the page only
    bool sheds = false;                ///< beyond --log-keep its oldest rows are deleted, by the first column
    std::string_view primary_key{};    ///< of several columns; empty: the first one is it
    int since = oldest_log_version;    ///< version of the log
};

struct ColumnText {
    std::string_view name;
    std::string_view comment{}; ///< in the SQL, and on the page if that has no meaning of its own
    std::string_view meaning{}; ///< on the page
    std::string_view unit{};    ///< on the page; of a time it follows from the type
    int since = oldest_log_version;
};

/// The table that names the numbers of an enumeration; `column` is called like the columns that hold them, so that USING(column) joins.
struct NameTable {
    std::string_view table, column;
    std::span<const std::string_view> names;
    int since = oldest_log_version;
};
/// Each enumeration that a column holds has one.
template <class Enum>
inline constexpr NameTable name_table{};

/// Values that are not in the row itself.
struct ThisRun {}; ///< the run that is being written; a SampleNumber is one, too

/// What turns values into those of the file.
struct RowContext {
    std::int64_t run = 0;
    std::uint64_t id_base = 0; ///< ids in the file = base of the run + id of the event
};

/// The number of a row, given by SQLite.
struct RowNumber {};

template <class Get>
struct Column {
    ColumnText text;
    Get get;
    bool is_key = false; ///< the primary key
};
template <class Get>
constexpr Column<Get> column(ColumnText text, Get get) {
    return {text, get};
}
template <class Get>
constexpr Column<Get> key(ColumnText text, Get get) {
    return {text, get, true};
}
constexpr Column<RowNumber> numbered(ColumnText text) { return {text, {}, true}; }
/// The run that a row belongs to.
constexpr auto run_column() {
    return column({"run", "", "which run"}, [](const auto&) { return ThisRun{}; });
}

/// `from_events`: rows come one by one and wait in the batch; others are made by the writer out of something larger.
template <class RowType, bool from_events_, class... Columns>
struct EventTable {
    using Row = RowType;
    static constexpr bool from_events = from_events_;
    TableText text;
    std::tuple<Columns...> columns;
};
template <class Row, class... Columns>
constexpr EventTable<Row, true, Columns...> event_table(TableText text, Columns... columns) {
    return {text, {columns...}};
}
template <class Row, class... Columns>
constexpr EventTable<Row, false, Columns...> made_table(TableText text, Columns... columns) {
    return {text, {columns...}};
}

// What SQLite binds for a value.
[[nodiscard]] inline std::optional<std::uint64_t> bound(EventId id, const RowContext& context) {
    return id == no_event ? std::nullopt : std::optional{context.id_base + id.value()};
}
template <class Tag, class Rep>
[[nodiscard]] Rep bound(Id<Tag, Rep> id, const RowContext&) {
    return id.value();
}
[[nodiscard]] inline std::int64_t bound(SimTime at, const RowContext&) { return ns_since_start(at); }
[[nodiscard]] inline std::int64_t bound(Duration time, const RowContext&) { return time.count(); }
[[nodiscard]] inline std::int64_t bound(ThisRun, const RowContext& context) { return context.run; }
[[nodiscard]] inline std::int64_t bound(SampleNumber sample, const RowContext&) { return sample.n; }
[[nodiscard]] inline std::string_view bound(const std::string& text, const RowContext&) { return text; }
template <class Value>
[[nodiscard]] auto bound(const Value& value, const RowContext&) {
    if constexpr (std::is_enum_v<Value>)
        return int{std::to_underlying(value)};
    else
        return value;
}

/// What a row of a table binds, in order.
template <class Table, class Row>
[[nodiscard]] auto values_of(const Table& table, const Row& row, const RowContext& context) {
    const auto one = [&]<class Get>(const Column<Get>& c) {
        if constexpr (std::is_same_v<Get, RowNumber>)
            return std::tuple{};
        else
            return std::tuple{bound(std::invoke(c.get, row), context)};
    };
    return std::apply([&](const auto&... c) { return std::tuple_cat(one(c)...); }, table.columns);
}

/// A description without its types, for the SQL and the page.
struct ColumnDescription {
    ColumnText text;
    std::string_view type; ///< INTEGER, REAL or TEXT
    bool is_key = false, is_numbered = false, may_be_null = false;
    std::string_view refers_to; ///< a table
    bool refers_to_names = false;
};
struct TableDescription {
    TableText text;
    std::vector<ColumnDescription> columns;
};

template <class Value>
struct ValueTraits {
    static constexpr std::string_view type = std::is_floating_point_v<Value>                  ? "REAL"
                                             : std::is_convertible_v<Value, std::string_view> ? "TEXT"
                                                                                              : "INTEGER";
    static constexpr bool may_be_null = std::is_same_v<Value, EventId>; // of nobody
    static constexpr bool is_time = std::is_same_v<Value, SimTime> || std::is_same_v<Value, Duration>;
};
template <class Value>
struct ValueTraits<std::optional<Value>> : ValueTraits<Value> {
    static constexpr bool may_be_null = true;
};

template <class Row, class Get>
[[nodiscard]] ColumnDescription describe(const Column<Get>& c) {
    ColumnDescription d{.text = c.text, .type = "INTEGER", .is_key = c.is_key, .refers_to = {}};
    if constexpr (std::is_same_v<Get, RowNumber>) {
        d.is_numbered = true;
    } else {
        using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
        using Traits = ValueTraits<Value>;
        d.type = Traits::type;
        d.may_be_null = Traits::may_be_null;
        if (Traits::is_time) d.text.unit = "ns";
        if constexpr (std::is_enum_v<Value>) {
            static_assert(!name_table<Value>.names.empty(), "an enumeration in the log has a table of names");
            d.refers_to = name_table<Value>.table;
            d.refers_to_names = true;
        } else if constexpr (std::is_same_v<Value, ThisRun>) {
            d.refers_to = "run";
        } else if constexpr (std::is_same_v<Value, SampleNumber>) {
            d.refers_to = "sample";
        }
    }
    return d;
}

template <class Table>
[[nodiscard]] TableDescription describe_table(const Table& table) {
    return {table.text, std::apply([](const auto&... c) { return std::vector{describe<typename Table::Row>(c)...}; }, table.columns)};
}

} // namespace flashlab
