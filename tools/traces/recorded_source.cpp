#include "tools/traces/recorded_source.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sqlite3.h>

#include "tools/log/event_log_schema.h"
#include "tools/log/log_version.h"
#include "tools/log/sqlite.h"

namespace flashlab {
namespace {

namespace files = std::filesystem;

std::string log_of(const std::string& path) { return files::is_directory(path) ? (files::path{path} / "events.db").string() : path; }

class RecordedSource final : public TraceSource {
public:
    RecordedSource(SqliteConnection db, SqliteStatement rows) : db_{std::move(db)}, rows_{std::move(rows)} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        const int result = ::sqlite3_step(rows_.get());
        if (result == SQLITE_DONE) return std::nullopt;
        if (result != SQLITE_ROW) return std::unexpected("the event log cannot be read: " + db_.error());
        ++number_;
        const auto column = [&](int index) { return ::sqlite3_column_int64(rows_.get(), index); };
        const std::int64_t time = column(0), op = column(1), sector = column(2), sectors = column(3);
        if (time < 0 || op < 0 || op > 3 || sector < 0 || sectors < 0 || sector > (std::int64_t{1} << 50) || sectors > (std::int64_t{1} << 40))
            return TraceParse::bad(0, "the row is out of range");
        if (sectors == 0 && op != 3) return TraceParse::bad(0, "the length is zero");
        constexpr TraceOp ops[] = {TraceOp::read, TraceOp::write, TraceOp::trim, TraceOp::flush};
        request = {static_cast<std::uint64_t>(time), static_cast<std::uint64_t>(sector) * 512, static_cast<std::uint64_t>(sectors) * 512, 0, ops[op]};
        return TraceParse::request();
    }
    std::string where() const override { return fmt::format("host_request row {}", number_); }

private:
    SqliteConnection db_;
    SqliteStatement rows_;
    std::uint64_t number_ = 0;
};

} // namespace

bool is_recorded_trace(const std::string& path) {
    std::error_code error;
    if (files::is_directory(path, error)) return true;
    if (!files::is_regular_file(path, error)) // a FIFO is opened once, by whoever reads it to its end
        return false;
    char first[16] = {};
    std::ifstream file{path, std::ios::binary};
    return file.read(first, sizeof first) && std::string_view{first, 15} == "SQLite format 3";
}

std::expected<std::unique_ptr<TraceSource>, std::string> make_recorded_source(const std::string& path) {
    const std::string log = log_of(path);
    if (!files::exists(log))
        return std::unexpected(
            fmt::format("{}: no event log ({}): is it a device directory? Record with: flashlab mount {} MNT --log requests", path, log, path));
    auto db = SqliteConnection::open(log, SqliteAccess::read_only);
    if (!db) return std::unexpected(db.error());
    if (db->number("PRAGMA user_version").value_or(0) > event_log_version()) // of others the table alone is wanted
        return std::unexpected(fmt::format("{}: {}", log, why_no_event_log(*db)));
    auto rows = db->prepare("SELECT ts_ns, op, first_sector, sectors FROM host_request ORDER BY id");
    if (!rows) return std::unexpected(fmt::format("{}: no event log of FlashLab: {}", log, rows.error()));
    const auto any = db->number("SELECT EXISTS(SELECT 1 FROM host_request)");
    if (any && *any == 0)
        return std::unexpected(
            fmt::format("{}: no host request was recorded: mount with --log requests, or flashlab ctl MNT set log=requests", path));
    return std::make_unique<RecordedSource>(std::move(*db), std::move(*rows));
}

} // namespace flashlab
