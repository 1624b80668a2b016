#include "tools/log/event_log_writer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/log/event_log_schema.h"
#include "tools/log/event_log_views.h"
#include "tools/log/sqlite_cell.h"

namespace flashlab {
namespace {

/// Rows that leave out one id in so many are copied like those that leave out none, with empty rows between them that are removed again. It would
/// pay for up to one id a row, but each leaves a hole of 16 bytes in the file.
constexpr std::int64_t rows_for_a_gap = 4;
/// Whether the rows of its table are details: many, each with a rowid and integers.
template <class Row>
constexpr bool has_details = table_of<Row>().text.level.value_or(EventLevel::none) >= EventLevel::requests;
template <class Row>
constexpr const auto& first_column = std::get<0>(table_of<Row>().columns);
template <class Row>
constexpr bool is_numbered = std::is_same_v<std::remove_cvref_t<decltype(first_column<Row>.get)>, RowNumber>;
template <class Row>
constexpr std::size_t columns_of = std::tuple_size_v<std::remove_cvref_t<decltype(table_of<Row>().columns)>>;
template <class Row>
using CellOf = SqliteCell<columns_of<Row> - 1>;

/// The tables of details in the order of the SQL.
constexpr auto detail_tables = []<class... Table>(const std::tuple<Table...>&) {
    std::array<std::string_view, (std::size_t{has_details<typename Table::Row>} + ...)> names{};
    std::size_t next = 0;
    ((has_details<typename Table::Row> ? void(names[next++] = table_of<typename Table::Row>().text.name) : void()), ...);
    return names;
}(all_tables);
template <class Row>
constexpr auto place_in_image = static_cast<std::size_t>(std::ranges::find(detail_tables, table_of<Row>().text.name) - detail_tables.begin());
/// Of the tables of details.
constexpr std::size_t most_cell_bytes = []<class... Table>(const std::tuple<Table...>&) {
    return std::max({(has_details<typename Table::Row> ? CellOf<typename Table::Row>::most_bytes : 0)...});
}(all_tables);

/// The values of a row: a question mark for what is bound.
std::string placeholders(const TableDescription& table) {
    std::string out;
    for (const ColumnDescription& c : table.columns) out += fmt::format("{}{}", out.empty() ? "(" : ",", c.is_numbered ? "NULL" : "?");
    return out + ")";
}

/// The greatest id that a row of the file is known by.
std::string last_id_sql() {
    std::string out = "SELECT max(ifnull((SELECT max(first_id) FROM run),0)";
    for (const TableDescription& table : event_log_descriptions())
        if (const ColumnDescription& c = table.columns.front(); c.is_key && !c.is_numbered)
            out += fmt::format(",ifnull((SELECT max(rowid) FROM {}),0)", table.text.name);
    return out + ")";
}

} // namespace

std::expected<std::unique_ptr<EventLogWriter>, std::string> EventLogWriter::open(const EventLogConfig& config, std::size_t most_events,
                                                                                 const std::optional<LogRun>& run, std::uint64_t lost) {
    auto lock = LogLock::take(config.path, config.is_of_device);
    if (!lock) return std::unexpected(lock.error());
    auto db = SqliteConnection::open(config.path, config.is_of_device ? SqliteAccess::create_no_link : SqliteAccess::create);
    if (!db) return std::unexpected(db.error());
    std::unique_ptr<EventLogWriter> writer{new EventLogWriter{std::move(*lock), std::move(*db)}};
    writer->keep_bytes_ = config.keep_bytes;
    const auto failed = [&](const std::string& why) { return std::unexpected(fmt::format("{}: {}", config.path, why)); };
    if (auto done = writer->make_schema(); !done) return failed(done.error());
    const auto page = writer->db_.number("PRAGMA page_size");
    if (!page) return failed(page.error());
    writer->page_bytes_ = *page;
    if (auto done = writer->db_.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"); !done) return failed(done.error());
    if (auto done = writer->prepare_all(most_events); !done) return failed(done.error());
    const auto continued = run ? writer->continue_run(*run, lost) : std::expected<bool, std::string>{false};
    if (!continued) return failed(continued.error());
    if (!*continued)
        if (auto done = writer->begin_run(config); !done) return failed(done.error());
    return writer;
}

std::expected<void, std::string> EventLogWriter::make_schema() {
    const auto version = db_.number("PRAGMA user_version");
    if (!version) return std::unexpected(version.error());
    if (*version == event_log_version()) return {};
    if (*version >= oldest_log_version && *version < event_log_version()) return upgrade(*version);
    const auto tables = db_.number("SELECT count(*) FROM sqlite_schema");
    if (!tables) return std::unexpected(tables.error());
    if (*version != 0 || *tables != 0)
        return std::unexpected(
            fmt::format("not an event log of version {} (user_version {}); move it away and a new one is made", event_log_version(), *version));
    return db_.execute(fmt::format("BEGIN;\n{}\n{}\n{}\nPRAGMA user_version={};\nCOMMIT;", event_log_tables(), event_log_enums(), event_log_views(),
                                   event_log_version()));
}

std::expected<void, std::string> EventLogWriter::upgrade(std::int64_t version) {
    std::string views; // the ready ones have changed, too
    {
        const auto names = db_.prepare("SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name");
        if (!names) return std::unexpected(names.error());
        while (sqlite3_step(names->get()) == SQLITE_ROW)
            views += fmt::format("DROP VIEW {};\n", reinterpret_cast<const char*>(sqlite3_column_text(names->get(), 0)));
    }
    auto done = db_.execute(
        fmt::format("BEGIN;\n{}{}{}\nPRAGMA user_version={};\nCOMMIT;", views, event_log_upgrade(version), event_log_views(), event_log_version()));
    if (!done) (void)db_.execute("ROLLBACK");
    return done;
}

std::expected<void, std::string> EventLogWriter::begin_run(const EventLogConfig& config) {
    const auto last = db_.number(last_id_sql());
    if (!last) return std::unexpected(last.error());
    run_.id_base = static_cast<std::uint64_t>(*last);
    const auto op = db_.number("SELECT ifnull(max(rowid), 0) FROM main.nand_op"),
               pram_write = db_.number("SELECT ifnull(max(rowid), 0) FROM main.pram_write");
    if (!op || !pram_write) return std::unexpected(op ? pram_write.error() : op.error());
    const RunRow row{.kind = config.kind,
                     .version = FLASHLAB_VERSION,
                     .config_toml = config.config_toml,
                     .config_hash = config.config_hash,
                     .seed = config.seed,
                     .first_id = run_.id_base,
                     .start = config.start,
                     .page_bytes = config.page_bytes,
                     .first_op = *op,
                     .first_pram_write = *pram_write};
    if (!insert(row)) return std::unexpected(db_.error());
    run_.run = sqlite3_last_insert_rowid(db_.get());
    if (config.level != EventLevel::none && !insert(LevelRow{config.start, config.level})) return std::unexpected(db_.error());
    return {};
}

std::expected<bool, std::string> EventLogWriter::continue_run(const LogRun& run, std::uint64_t lost) {
    const auto there = db_.number(fmt::format("SELECT count(*) FROM run WHERE run = {} AND first_id = {}", run.run, run.id_base));
    if (!there) return std::unexpected(there.error());
    if (*there == 0) return false;
    run_ = run;
    if (auto done = db_.execute(fmt::format("UPDATE run SET rows_dropped = rows_dropped + {} WHERE run = {}", lost, run.run)); !done)
        return std::unexpected(done.error());
    return true;
}

std::expected<void, std::string> EventLogWriter::prepare_all(std::size_t most_events) {
    std::expected<void, std::string> done;
    const auto prepare = [&]<class Table>(const Table& table) {
        if (!done || has_details<typename Table::Row>) return;
        auto prepared = SqliteBulkInsert::make(db_, table.text.name, placeholders(describe_table(table)));
        if (prepared)
            std::get<TableInsert<typename Table::Row>>(inserts_).sql = std::move(*prepared);
        else
            done = std::unexpected(prepared.error());
    };
    std::apply([&](const auto&... table) { (prepare(table), ...); }, all_tables);
    if (!done) return done;
    auto image = SqliteBatchImage::attach(db_, detail_tables, most_events, most_cell_bytes);
    if (!image) return std::unexpected(image.error());
    image_ = std::move(*image);
    for (const std::string_view table : detail_tables) {
        auto greatest = db_.prepare(fmt::format("SELECT max(rowid) FROM main.{}", table));
        auto remove = db_.prepare(fmt::format("DELETE FROM main.{} WHERE rowid = ?", table));
        if (!greatest || !remove) return std::unexpected(greatest ? remove.error() : greatest.error());
        details_.push_back({.greatest_rowid = std::move(*greatest), .remove = std::move(*remove)});
    }
    auto used = db_.prepare("SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count)");
    if (!used) return std::unexpected(used.error());
    used_pages_ = std::move(*used);
    return {};
}

template <class Row>
bool EventLogWriter::insert(std::span<const Row> rows) {
    const RowContext context{run_.run, run_.id_base};
    return std::get<TableInsert<Row>>(inserts_).sql.insert(rows, [&](const Row& row) { return values_of(table_of<Row>(), row, context); });
}

std::expected<void, std::string> EventLogWriter::fill_image(const EventBatch& batch) {
    image_.clear();
    std::expected<void, std::string> done;
    const auto pack_details = [&]<class Row>(const std::vector<Row>& rows) {
        if constexpr (has_details<Row>)
            if (done && !rows.empty()) done = pack(std::span{rows});
    };
    std::apply([&](const auto&... list) { (pack_details(list), ...); }, batch.rows);
    image_.publish();
    return done;
}

template <class Row>
std::expected<void, std::string> EventLogWriter::pack(std::span<const Row> rows) {
    const RowContext context{run_.run, run_.id_base};
    bool has_room = true;
    const auto append = [&](std::int64_t rowid, const auto& values) {
        has_room = has_room && image_.append(rowid, CellOf<Row>{rowid, values}.bytes());
    };
    Details& details = details_[place_in_image<Row>];
    details.are_behind = is_numbered<Row>;
    details.last_behind.reset();
    details.left_out.clear();
    image_.begin(place_in_image<Row>);
    if constexpr (is_numbered<Row>) {
        std::int64_t number = 0;
        for (const Row& row : rows) append(++number, values_of(table_of<Row>(), row, context));
    } else {
        const auto id_of = [&](const Row& row) { return static_cast<std::int64_t>(*bound(std::invoke(first_column<Row>.get, row), context)); };
        const auto others_of = [&](const Row& row) {
            return std::apply([](const auto&, const auto&... others) { return std::tuple{others...}; }, values_of(table_of<Row>(), row, context));
        };
        const auto append_row = [&](const Row& row) { append(id_of(row), others_of(row)); };
        if (std::ranges::is_sorted(rows, std::less_equal{}, id_of)) {
            const auto greatest = details.greatest_rowid.number();
            if (!greatest) return std::unexpected(db_.error());
            std::int64_t next = *greatest + 1;
            const std::int64_t last = id_of(rows.back()), count = static_cast<std::int64_t>(rows.size());
            details.are_behind = id_of(rows.front()) >= next && last - *greatest - count <= count / rows_for_a_gap;
            if (details.are_behind) details.last_behind = last;
            for (const Row& row : rows) {
                for (; details.are_behind && next < id_of(row); ++next) { // the id of a collection, say
                    append(next, decltype(others_of(row)){});
                    details.left_out.push_back(next);
                }
                append_row(row);
                ++next;
            }
        } else { // calls that began earlier may end later
            std::vector<const Row*> by_id(rows.size());
            std::ranges::transform(rows, by_id.begin(), [](const Row& row) { return &row; });
            std::ranges::stable_sort(by_id, {}, [&](const Row* row) { return id_of(*row); });
            for (const Row* row : by_id) append_row(*row);
        }
    }
    image_.end();
    if (!has_room) return std::unexpected("more rows at once than a batch may have");
    return {};
}

template <class Row>
bool EventLogWriter::copy_or_insert(std::span<const Row> rows) {
    if constexpr (has_details<Row>) {
        if (rows.empty()) return true;
        Details& details = details_[place_in_image<Row>];
        if (!details.are_behind) return image_.copy(place_in_image<Row>);
        return image_.copy_behind(place_in_image<Row>) &&
               (!details.last_behind || sqlite3_last_insert_rowid(db_.get()) == *details.last_behind) && // or somebody else writes here
               std::ranges::all_of(details.left_out, [&](std::int64_t rowid) { return details.remove.run(rowid); });
    } else {
        return insert(rows);
    }
}

std::expected<void, std::string> EventLogWriter::write(const EventBatch& batch) {
    if (auto filled = fill_image(batch); !filled) return filled;
    if (auto begun = db_.execute("BEGIN"); !begun) return begun;
    if (!write_rows(batch) || !write_samples(batch) || !take_back_what_cuts_undid(batch)) {
        const std::string why = sqlite3_errcode(db_.get()) == SQLITE_OK ? "another program adds rows to it" : db_.error();
        (void)db_.execute("ROLLBACK");
        return std::unexpected(why);
    }
    if (auto done = db_.execute("COMMIT"); !done) return done;
    return keep_within_cap();
}

bool EventLogWriter::write_rows(const EventBatch& batch) {
    return std::apply([&](const auto&... list) { return (copy_or_insert(std::span{list}) && ...); }, batch.rows);
}

bool EventLogWriter::write_samples(const EventBatch& batch) {
    for (const SimTime start : batch.run_starts)
        if (!db_.execute(fmt::format("UPDATE run SET start_ns = {} WHERE run = {}", ns_since_start(start), run_.run))) return false;
    for (const auto& [sample, details] : batch.samples)
        if (!write_sample(sample, details)) return false;
    bool good = true;
    for (const auto& wear : batch.wears) {
        good = good && db_.execute(fmt::format("DELETE FROM wear WHERE run = {}", run_.run)).has_value();
        for (const auto& [erases, blocks] : wear.blocks_by_erase_count) good = good && insert(WearRow{erases, blocks});
        good = good && db_.execute(fmt::format("DELETE FROM block WHERE run = {}", run_.run)).has_value();
        good = good && insert(std::span{wear.blocks});
    }
    return good;
}

/// Events are told when operations are issued. A cut undoes programs and erases whose cells had not begun, as it takes them from the counters, and
/// leaves requests without an answer. Of tables with an image this connection knows no name of the rowid (SqliteBatchImage::prepare_copies).
bool EventLogWriter::take_back_what_cuts_undid(const EventBatch& batch) {
    for (const PowerEvent& power : batch.rows_of<PowerEvent>()) {
        if (power.kind != PowerEventKind::cut) continue;
        const std::int64_t at = ns_since_start(power.at);
        if (!db_.execute(fmt::format(
                "DELETE FROM main.nand_op WHERE rowid > (SELECT first_op FROM run WHERE run = {}) AND ts_ns + cells_at_ns >= {} AND op <> {}",
                run_.run, at, std::to_underlying(NandOp::read))) ||
            !db_.execute(fmt::format(
                "UPDATE main.host_request SET failed = 1, dur_ns = max({1} - ts_ns, 0) WHERE rowid > (SELECT first_id FROM run WHERE run = "
                "{0}) AND ts_ns + dur_ns > {1}",
                run_.run, at)))
            return false;
    }
    return true;
}

/// What it means, once; also where a run goes on that another writer began.
bool EventLogWriter::tell_counter(const OwnCount& own) {
    if (std::ranges::find(told_counters_, own.name) != told_counters_.end()) return true;
    if (told_counters_.empty() && !db_.execute(fmt::format("DELETE FROM counter WHERE run = {}", run_.run))) return false;
    told_counters_.push_back(own.name);
    return insert(own);
}

bool EventLogWriter::write_sample(const SampleEvent& s, const SampleDetails& details) {
    bool good = insert(s);
    const SampleNumber sample{sqlite3_last_insert_rowid(db_.get())};
    for (std::uint32_t cause = 0; cause < cause_count; ++cause)
        if (s.nand_reads[cause] + s.nand_programs[cause] + s.nand_erases[cause] != 0)
            good =
                good && insert(SampleNandRow{sample, static_cast<Cause>(cause), s.nand_reads[cause], s.nand_programs[cause], s.nand_erases[cause]});
    for (std::uint32_t channel = 0; channel < details.channel_busy_ns.size(); ++channel)
        good = good && insert(SampleChannelRow{sample, channel, Duration{details.channel_busy_ns[channel]}});
    good = good && insert(SampleSchemeRow{sample, details.counts});
    for (const OwnCount& own : details.own_counts) good = good && tell_counter(own) && insert(SampleCounterRow{sample, own.name, own.value});
    for (const auto& l : details.latency)
        good = good && insert(SampleLatencyRow{sample, l.op, l.calls, l.errors, Duration{l.p50_ns}, Duration{l.p99_ns}, Duration{l.max_ns}});
    return good;
}

std::expected<void, std::string> EventLogWriter::keep_within_cap() {
    const auto used = used_pages_.number();
    if (!used) return std::unexpected(db_.error());
    if (static_cast<std::uint64_t>(*used * page_bytes_) <= keep_bytes_) return {};
    // A part of the rows of each such table goes at once: rowids grow with time, so that these are the oldest. Few enough that nobody
    // waits for long. The last one stays: rows are numbered on from it.
    const std::int64_t before = sqlite3_total_changes64(db_.get());
    for (const TableDescription& table : event_log_descriptions()) {
        if (!table.text.sheds) continue;
        if (auto done = db_.execute(
                fmt::format("DELETE FROM {0} WHERE rowid <= (SELECT min(min(rowid) + (max(rowid) - min(rowid)) / 32, max(rowid) - 1) FROM {0})",
                            table.text.name));
            !done)
            return done;
    }
    return db_.execute(
        fmt::format("UPDATE run SET rows_dropped = rows_dropped + {} WHERE run = {}", sqlite3_total_changes64(db_.get()) - before, run_.run));
}

std::expected<void, std::string> EventLogWriter::close(RunEnd end) {
    std::expected<void, std::string> done;
    if (end == RunEnd::partial) done = db_.execute(fmt::format("UPDATE run SET kind = kind || ' (partial)' WHERE run = {}", run_.run));
    if (auto moved = db_.execute("PRAGMA main.wal_checkpoint(TRUNCATE)"); done) done = moved; // a reader may hold it up: that is no error
    (void)db_.execute("PRAGMA main.journal_mode=DELETE");
    return done;
}

} // namespace flashlab
