#include "tools/log/event_log_writer.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/log/event_log_schema.h"

namespace flashlab {

std::expected<std::unique_ptr<EventLogWriter>, std::string> EventLogWriter::open(const EventLogConfig& config, const std::optional<LogRun>& run,
                                                                                std::uint64_t lost) {
    auto lock = LogLock::take(config.path, config.is_of_device);
    if (!lock)
        return std::unexpected(lock.error());
    auto db = SqliteConnection::open(config.path, config.is_of_device ? SqliteAccess::create_no_link : SqliteAccess::create);
    if (!db)
        return std::unexpected(db.error());
    std::unique_ptr<EventLogWriter> writer{new EventLogWriter{std::move(*lock), std::move(*db)}};
    writer->keep_bytes_ = config.keep_bytes;
    const auto failed = [&](const std::string& why) { return std::unexpected(fmt::format("{}: {}", config.path, why)); };
    if (auto done = writer->make_schema(); !done)
        return failed(done.error());
    const auto page = writer->db_.number("PRAGMA page_size");
    if (!page)
        return failed(page.error());
    writer->page_bytes_ = *page;
    if (auto done = writer->db_.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"); !done)
        return failed(done.error());
    const auto continued = run ? writer->continue_run(*run, lost) : std::expected<bool, std::string>{false};
    if (!continued)
        return failed(continued.error());
    if (!*continued)
        if (auto done = writer->begin_run(config); !done)
            return failed(done.error());
    if (auto done = writer->prepare_all(); !done)
        return failed(done.error());
    return writer;
}

std::expected<void, std::string> EventLogWriter::make_schema() {
    const auto version = db_.number("PRAGMA user_version");
    if (!version)
        return std::unexpected(version.error());
    if (*version == event_log_version)
        return {};
    if (*version >= 3 && *version < event_log_version)
        return upgrade(*version);
    const auto tables = db_.number("SELECT count(*) FROM sqlite_schema");
    if (!tables)
        return std::unexpected(tables.error());
    if (*version != 0 || *tables != 0)
        return std::unexpected(fmt::format("not an event log of version {} (user_version {}); move it away and a new one is made", event_log_version, *version));
    return db_.execute(fmt::format("BEGIN;\n{}\n{}\n{}\nPRAGMA user_version={};\nCOMMIT;", event_log_tables(), event_log_enums(), event_log_views(),
                                   event_log_version));
}

std::expected<void, std::string> EventLogWriter::upgrade(std::int64_t version) {
    std::string views; // the ready ones have changed, too
    {
        const auto names = db_.prepare("SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name");
        if (!names)
            return std::unexpected(names.error());
        while (sqlite3_step(names->get()) == SQLITE_ROW)
            views += fmt::format("DROP VIEW {};\n", reinterpret_cast<const char*>(sqlite3_column_text(names->get(), 0)));
    }
    auto done = db_.execute(fmt::format("BEGIN;\n{}{}{}\nPRAGMA user_version={};\nCOMMIT;", views, event_log_upgrade(version), event_log_views(), event_log_version));
    if (!done)
        (void)db_.execute("ROLLBACK");
    return done;
}

std::expected<void, std::string> EventLogWriter::begin_run(const EventLogConfig& config) {
    const auto last = db_.number("SELECT max(ifnull((SELECT max(id) FROM host_request),0), ifnull((SELECT max(id) FROM fs_op),0), "
                                 "ifnull((SELECT max(id) FROM gc_job),0), ifnull((SELECT max(first_id) FROM run),0))");
    if (!last)
        return std::unexpected(last.error());
    run_.id_base = static_cast<std::uint64_t>(*last);
    auto insert = db_.prepare("INSERT INTO run VALUES(NULL,?,?,?,?,?,?,?,?,0)");
    if (!insert)
        return std::unexpected(insert.error());
    if (!insert->run(config.kind, std::string_view{FLASHLAB_VERSION}, config.config_toml, config.config_hash, config.seed, run_.id_base,
                     ns_since_start(config.start), config.page_bytes))
        return std::unexpected(db_.error());
    run_.run = sqlite3_last_insert_rowid(db_.get());
    return {};
}

std::expected<bool, std::string> EventLogWriter::continue_run(const LogRun& run, std::uint64_t lost) {
    const auto there = db_.number(fmt::format("SELECT count(*) FROM run WHERE run = {} AND first_id = {}", run.run, run.id_base));
    if (!there)
        return std::unexpected(there.error());
    if (*there == 0)
        return false;
    run_ = run;
    if (auto done = db_.execute(fmt::format("UPDATE run SET rows_dropped = rows_dropped + {} WHERE run = {}", lost, run.run)); !done)
        return std::unexpected(done.error());
    return true;
}

std::expected<void, std::string> EventLogWriter::prepare_all() {
    struct Table {
        SqliteBulkInsert* insert;
        std::string_view name, row;
    };
    for (const auto& [insert, name, row] : std::array<Table, 5>{{{&host_request_, "host_request", "(?,?,?,?,?,?,?,?,?)"},
                                                                {&fs_op_, "fs_op", "(?,?,?,?,?,?,?,?)"},
                                                                {&nand_op_, "nand_op", "(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
                                                                {&gc_job_, "gc_job", "(?,?,?,?,?,?,?)"},
                                                                {&pram_write_, "pram_write", "(NULL,?,?,?,?,?,?,?)"}}}) {
        auto prepared = SqliteBulkInsert::make(db_, name, row);
        if (!prepared)
            return std::unexpected(prepared.error());
        *insert = std::move(*prepared);
    }
    const std::array<std::pair<SqliteStatement*, std::string_view>, 10> statements{{
        {&uncorrectable_read_, "INSERT INTO uncorrectable_read VALUES(?,?,?,?,?,?,?)"},
        {&unreadable_file_, "INSERT INTO unreadable_file VALUES(NULL,?,?,?,?,?,nullif(?,''))"},
        {&power_, "INSERT INTO power VALUES(NULL,?,?,?,?,?,?,?,?,?)"},
        {&sample_, "INSERT INTO sample VALUES(NULL,?,?,?,?,?,?,?,?,?,?)"},
        {&sample_nand_, "INSERT INTO sample_nand VALUES(?,?,?,?,?)"},
        {&sample_channel_, "INSERT INTO sample_channel VALUES(?,?,?)"},
        {&fs_latency_, "INSERT INTO fs_latency VALUES(?,?,?,?,?,?,?)"},
        {&wear_, "INSERT INTO wear VALUES(?,?,?)"},
        {&partition_, "INSERT INTO partition_decision VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&used_pages_, "SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count)"},
    }};
    for (const auto& [statement, sql] : statements) {
        auto prepared = db_.prepare(sql);
        if (!prepared)
            return std::unexpected(prepared.error());
        *statement = std::move(*prepared);
    }
    return {};
}

std::optional<std::uint64_t> EventLogWriter::id_of(EventId id) const {
    if (id == no_event)
        return std::nullopt;
    return run_.id_base + id.value();
}

std::expected<void, std::string> EventLogWriter::write(const EventBatch& batch) {
    if (auto begun = db_.execute("BEGIN"); !begun)
        return begun;
    if (!write_rows(batch) || !write_samples(batch)) {
        const std::string why = db_.error();
        (void)db_.execute("ROLLBACK");
        return std::unexpected(why);
    }
    if (auto done = db_.execute("COMMIT"); !done)
        return done;
    return keep_within_cap();
}

bool EventLogWriter::write_rows(const EventBatch& batch) {
    const auto code = [](auto of) { return int{std::to_underlying(of)}; };
    bool good = host_request_.insert(std::span{batch.host_requests}, [&](const HostRequestRow& row) {
        const HostRequestEvent& e = row.event;
        return std::tuple{id_of(e.id), ns_since_start(e.arrival), (e.completion - e.arrival).count(), code(e.op), e.first.value(), e.sectors, e.fua, e.failed, row.piece};
    });
    good = good && fs_op_.insert(std::span{batch.fs_ops}, [&](const FsOpEvent& e) {
        return std::tuple{id_of(e.id), ns_since_start(e.start), (e.end - e.start).count(), code(e.op), e.ino.value(), e.offset, e.bytes, e.error};
    });
    good = good && nand_op_.insert(std::span{batch.nand_ops}, [&](const NandOpEvent& e) {
        constexpr std::uint8_t data_page = 1;
        const auto number = e.lpn ? std::optional<std::uint64_t>{e.lpn->value()} : std::nullopt;
        const auto lpn = e.page_kind == data_page ? number : std::nullopt, own = e.page_kind == data_page ? std::nullopt : number;
        return std::tuple{ns_since_start(e.start), (e.end - e.start).count(), code(e.op), code(e.origin.cause), id_of(e.origin.parent), e.channel.value(),
                          e.chip.value(), e.die.value(), e.plane.value(), e.block.value(), e.page, e.pages, lpn, (e.phases.bus_in - e.start).count(),
                          (e.phases.bus_in_end - e.phases.bus_in).count(), (e.phases.cells - e.start).count(), (e.phases.cells_end - e.phases.cells).count(),
                          (e.phases.bus_out - e.start).count(), (e.phases.bus_out_end - e.phases.bus_out).count(), e.page_kind, own};
    });
    good = good && gc_job_.insert(std::span{batch.gc_jobs}, [&](const GcJobEvent& e) {
        return std::tuple{id_of(e.id), ns_since_start(e.start), (e.end - e.start).count(), code(e.cause), e.group.value(), e.victim.value(), e.valid_pages};
    });
    good = good && pram_write_.insert(std::span{batch.pram_writes}, [&](const PramWriteEvent& e) {
        return std::tuple{ns_since_start(e.start), (e.end - e.start).count(), code(e.user), id_of(e.parent), e.log_words, e.home_words, e.compared_words};
    });
    for (const auto& e : batch.uncorrectable_reads)
        good = good && uncorrectable_read_.run(id_of(e.request), run_.run, ns_since_start(e.at), code(e.op), e.first.value(), e.sectors, e.bad.value());
    for (const auto& e : batch.unreadable_files)
        good = good && unreadable_file_.run(run_.run, id_of(e.request), e.ino.value(), e.offset, e.bytes, e.path);
    for (const auto& e : batch.powers)
        good = good && power_.run(run_.run, ns_since_start(e.at), int{std::to_underlying(e.kind)}, std::int64_t{e.recovery.count()}, e.pages_scanned,
                                  e.operations_torn, e.operations_undone, e.words_torn, e.words_undone);
    for (const auto& e : batch.partitions)
        good = good && partition_.run(run_.run, ns_since_start(e.at), e.buffer_benefit, e.map_benefit, e.buffer_ghost_reads, e.buffer_ghost_writes, e.map_ghost_reads,
                                      e.map_ghost_writes, e.buffer_ghost_bytes, e.map_ghost_bytes, e.map_bytes_before, e.map_bytes, e.buffer_bytes);
    return good;
}

bool EventLogWriter::write_samples(const EventBatch& batch) {
    for (const SimTime start : batch.run_starts)
        if (!db_.execute(fmt::format("UPDATE run SET start_ns = {} WHERE run = {}", ns_since_start(start), run_.run)))
            return false;
    for (const auto& [sample, details] : batch.samples)
        if (!write_sample(sample, details))
            return false;
    bool good = true;
    for (const auto& wear : batch.wears) {
        good = good && db_.execute(fmt::format("DELETE FROM wear WHERE run = {}", run_.run)).has_value();
        for (const auto& [erases, blocks] : wear.blocks_by_erase_count)
            good = good && wear_.run(run_.run, erases, blocks);
    }
    return good;
}

bool EventLogWriter::write_sample(const SampleEvent& s, const SampleDetails& details) {
    bool good = sample_.run(run_.run, ns_since_start(s.at), s.host_reads, s.host_writes, s.host_trims, s.host_flushes, s.host_read_bytes, s.host_write_bytes,
                            s.pram_words_written, s.free_blocks);
    const std::int64_t sample = sqlite3_last_insert_rowid(db_.get());
    for (std::uint32_t cause = 0; cause < cause_count; ++cause)
        if (s.nand_reads[cause] + s.nand_programs[cause] + s.nand_erases[cause] != 0)
            good = good && sample_nand_.run(sample, cause, s.nand_reads[cause], s.nand_programs[cause], s.nand_erases[cause]);
    for (std::uint32_t channel = 0; channel < details.channel_busy_ns.size(); ++channel)
        good = good && sample_channel_.run(sample, channel, details.channel_busy_ns[channel]);
    for (const auto& l : details.latency)
        good = good && fs_latency_.run(sample, int{std::to_underlying(l.op)}, l.calls, l.errors, l.p50_ns, l.p99_ns, l.max_ns);
    return good;
}

std::expected<void, std::string> EventLogWriter::keep_within_cap() {
    const auto used = used_pages_.number();
    if (!used)
        return std::unexpected(db_.error());
    if (static_cast<std::uint64_t>(*used * page_bytes_) <= keep_bytes_)
        return {};
    // A part of the rows of each detail table goes at once: rowids grow with time, so that these are the oldest. Few enough that nobody waits for long.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> details{
        {{"nand_op", "n"}, {"host_request", "id"}, {"fs_op", "id"}, {"pram_write", "n"}, {"gc_job", "id"}, {"partition_decision", "n"},
         {"uncorrectable_read", "request"}, {"unreadable_file", "n"}}};
    const std::int64_t before = sqlite3_total_changes64(db_.get());
    for (const auto& [table, key] : details)
        if (auto done = db_.execute(fmt::format("DELETE FROM {0} WHERE {1} <= (SELECT min({1}) + (max({1}) - min({1})) / 32 FROM {0})", table, key)); !done)
            return done;
    return db_.execute(fmt::format("UPDATE run SET rows_dropped = rows_dropped + {} WHERE run = {}", sqlite3_total_changes64(db_.get()) - before, run_.run));
}

void EventLogWriter::close(RunEnd end) {
    if (end == RunEnd::partial)
        (void)db_.execute(fmt::format("UPDATE run SET kind = kind || ' (partial)' WHERE run = {}", run_.run));
    (void)db_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    (void)db_.execute("PRAGMA journal_mode=DELETE");
}

} // namespace flashlab
