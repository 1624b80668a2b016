#include "tools/traces/trace_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include "tools/log/event_log_schema.h"
#include "tools/log/log_version.h"
#include "tools/log/sqlite.h"
#include "tools/text/shell_word.h"
#include "tools/traces/column_format.h"
#include "tools/traces/text_mark.h"
#include "tools/traces/trace_formats.h"

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
        const std::int64_t time = column(0), op = column(1), sector = column(2), sectors = column(3), queue = column(4), fua = column(5),
                           named = column(6);
        if (time < 0 || op < 0 || op > 3 || sector < 0 || sectors < 0 || sector > (std::int64_t{1} << 50) || sectors > (std::int64_t{1} << 40) ||
            queue < 0 || queue >= most_queues || named < 0 || named > 0xffff)
            return TraceParse::bad(0, "the row is out of range");
        if (sectors == 0 && op != 3) return TraceParse::bad(0, "the length is zero");
        constexpr TraceOp ops[] = {TraceOp::read, TraceOp::write, TraceOp::trim, TraceOp::flush};
        request = {static_cast<std::uint64_t>(time),
                   static_cast<std::uint64_t>(sector) * 512,
                   static_cast<std::uint64_t>(sectors) * 512,
                   0,
                   ops[op],
                   static_cast<std::uint16_t>(queue),
                   op == 1 && fua != 0,
                   StreamId{static_cast<std::uint16_t>(named)}};
        return TraceParse::request();
    }
    std::string where() const override { return fmt::format("host_request row {}", number_); }

private:
    SqliteConnection db_;
    SqliteStatement rows_;
    std::uint64_t number_ = 0;
};

/// Whether the path is a device directory or a file that SQLite wrote.
bool is_recorded_trace(const std::string& path) {
    std::error_code error;
    if (files::is_directory(path, error)) return true;
    if (!files::is_regular_file(path, error)) // a FIFO is opened once, by whoever reads it to its end
        return false;
    char first[16] = {};
    std::ifstream file{path, std::ios::binary};
    return file.read(first, sizeof first) && std::string_view{first, 15} == "SQLite format 3";
}

/// Requests of one run alone, as a condition; "1": of all. Runs in virtual time each begin at their own zero: several at once are no trace.
std::expected<std::string, std::string> of_run(SqliteConnection& db, const std::string& log, std::optional<std::uint64_t> run) {
    constexpr const char* spans = "(SELECT run, first_id, lead(first_id, 1, 9223372036854775807) OVER (ORDER BY run) AS last_id FROM run)";
    if (run) {
        if (db.number(fmt::format("SELECT count(*) FROM run WHERE run = {}", *run)).value_or(0) == 0)
            return std::unexpected(
                fmt::format("{}: has no run {}; 'flashlab query {} \"SELECT run, kind FROM run\"' lists them", log, *run, shell_word(log)));
        return fmt::format("id > (SELECT first_id FROM {0} WHERE run = {1}) AND id <= (SELECT last_id FROM {0} WHERE run = {1})", spans, *run);
    }
    if (db.number("SELECT count(*) FROM run").value_or(0) < 2) return "1"; // as most are: what follows looks at every row
    const auto restarts =
        db.number(fmt::format("SELECT count(*) FROM (SELECT min(ts_ns) AS first, max(max(ts_ns)) OVER (ORDER BY run ROWS BETWEEN UNBOUNDED PRECEDING "
                              "AND 1 PRECEDING) AS before "
                              "FROM {} s JOIN host_request h ON h.id > s.first_id AND h.id <= s.last_id GROUP BY run) WHERE first < before",
                              spans));
    if (restarts.value_or(0) == 0) return "1";
    return std::unexpected(
        fmt::format("{0}: has several runs, each with a clock of its own; say which one with --run N: 'flashlab query {1} \"SELECT run, "
                    "kind FROM run\"' lists them",
                    log, shell_word(log)));
}

/// What was recorded on a mount at level requests, as a trace: the host_request rows of a device's event log.
///
/// Idea       `flashlab replay DIR` answers which translation layer fits an application: record the application once, then replay it on each layer.
/// Invariant  Requests come in the order in which they were submitted: without queues, as the drive received them. Times are the device's clock.
/// Cost       One row at a time; constant memory. Where requests waited in queues, SQLite sorts them first.
///
/// `path` is a device directory or an event log file. The error names the remedy when nothing was recorded.
std::expected<std::unique_ptr<TraceSource>, std::string> make_recorded_source(const std::string& path, const TraceOptions& options) {
    const std::string log = log_of(path);
    if (!files::exists(log))
        return std::unexpected(
            fmt::format("{}: no event log ({}): is it a device directory? Record with: flashlab mount {} MNT --log requests", path, log, path));
    auto db = SqliteConnection::open(log, SqliteAccess::read_only);
    if (!db) return std::unexpected(db.error());
    if (db->number("PRAGMA user_version").value_or(0) > event_log_version()) // of others the table alone is wanted
        return std::unexpected(fmt::format("{}: {}", log, why_no_event_log(*db)));
    const auto has_column = [&](std::string_view name) {
        return db->number(fmt::format("SELECT count(*) FROM pragma_table_info('host_request') WHERE name = '{}'", name)).value_or(0) != 0;
    };
    const bool has_queues = has_column("waited_ns");
    const bool has_waits = has_queues && db->number("SELECT EXISTS(SELECT 1 FROM host_request WHERE waited_ns <> 0)").value_or(0) != 0;
    const auto which = of_run(*db, log, options.run);
    if (!which) return std::unexpected(which.error());
    auto rows = db->prepare(fmt::format("SELECT ts_ns{0}, op, first_sector, sectors, {1}, {2}, {5} FROM host_request WHERE {4} ORDER BY {3}id",
                                        has_waits ? " - waited_ns" : "", has_queues ? "queue" : "0", has_column("fua") ? "fua" : "0",
                                        has_waits ? "1, " : "", *which, has_column("stream") ? "stream" : "0"));
    if (!rows) return std::unexpected(fmt::format("{}: no event log of FlashLab: {}", log, rows.error()));
    const auto any = db->number("SELECT EXISTS(SELECT 1 FROM host_request)");
    if (any && *any == 0)
        return std::unexpected(
            fmt::format("{}: no host request was recorded: mount with --log requests, or flashlab ctl MNT set log=requests", path));
    return std::make_unique<RecordedSource>(std::move(*db), std::move(*rows));
}

constexpr std::size_t sample_lines = 400;
constexpr std::uint64_t complaints_shown = 5;
constexpr std::uint64_t longest_ns = 3'200'000'000'000'000'000; ///< more overflows a simulated clock

struct Detection {
    std::string format, reason;
};

/// The lines of the sample that are whole.
std::vector<std::string_view> lines_of(std::string_view sample) {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < sample.size() && lines.size() < sample_lines;) {
        const std::size_t end = sample.find('\n', at);
        if (end == std::string_view::npos && !lines.empty()) break;
        std::string_view line = sample.substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        at = end == std::string_view::npos ? sample.size() : end + 1;
    }
    return lines;
}

std::expected<Detection, std::string> detect(std::string_view sample, char action) {
    if (sample.empty()) return std::unexpected(std::string{"the file is empty"});
    if (const auto binary = detect_binary_trace(sample); !binary.empty())
        return Detection{std::string{binary}, "its first bytes are those of this format"};
    const auto lines = lines_of(sample);
    Detection best;
    std::size_t best_requests = 0;
    for (const auto& format : text_trace_formats()) {
        const auto parser = format.make(action);
        std::size_t requests = 0, bad = 0, others = 0;
        TraceRequest request;
        for (const std::string_view line : lines) {
            const auto kind = parser->parse(line, request).kind;
            requests += kind == TraceParse::Kind::request ? 1 : 0;
            bad += kind == TraceParse::Kind::bad ? 1 : 0;
            others += kind == TraceParse::Kind::other && line.find_first_not_of(" \t\r") != std::string_view::npos ? 1 : 0;
        }
        // A block layer trace may begin with hundreds of events of other actions: they count when every line parses.
        const std::size_t worth = requests > 0 || format.name != "blkparse" ? requests : others;
        if (bad * 20 <= lines.size() && worth > best_requests) {
            best_requests = worth;
            best = {std::string{format.name}, fmt::format("{} of its first {} lines read as {}", lines.size() - bad, lines.size(), format.what)};
        }
    }
    if (best.format.empty())
        return std::unexpected(fmt::format(
            "the format was not recognised. Name it with --format ({}), or describe its columns: --columns ts:us=1,op=2,off:sector=3,len:B=4",
            fmt::join(trace_format_names(), ", ")));
    return best;
}

std::expected<std::unique_ptr<LineFormat>, std::string> make_line_format(const std::string& name, const TraceOptions& o) {
    if (name == "columns") {
        auto spec = parse_column_spec(o.columns, o.separator, o.op_words, o.has_header);
        if (!spec) return std::unexpected(spec.error());
        return std::make_unique<ColumnFormat>(std::move(*spec));
    }
    for (const auto& format : text_trace_formats())
        if (format.name == name) return format.make(o.action);
    return std::unexpected(fmt::format("--format {}: unknown; there are auto, columns, {}", name, fmt::join(trace_format_names(), ", ")));
}

std::expected<std::unique_ptr<TraceSource>, std::string> make_source(const std::string& path, const std::string& format, const TraceOptions& options,
                                                                     std::unique_ptr<ByteReader> reader) {
    if (format == "vscsi1" || format == "vscsi2") return make_vscsi_source(std::move(reader), format == "vscsi1" ? 1 : 2);
    if (format == "srt") return make_srt_source(std::move(reader));
    if (format == "blktrace") return make_blktrace_source(path, std::move(reader), options.action);
    auto line_format = make_line_format(format, options);
    if (!line_format) return std::unexpected(line_format.error());
    return make_text_source(std::move(reader), std::move(*line_format));
}

} // namespace

std::expected<std::unique_ptr<TraceReader>, std::string> TraceReader::open(const std::string& path, const TraceOptions& options) {
    if (path != "-" && is_recorded_trace(path))
        return read(path, "recorded", "it is a device's event log", options, make_recorded_source(path, options));
    if (options.run) return std::unexpected(fmt::format("{}: --run names a run of an event log, and this is none: leave it out", path));
    auto stream = open_byte_stream(path);
    if (!stream) return std::unexpected(stream.error());
    auto reader = std::make_unique<ByteReader>(std::move(*stream));
    std::unique_ptr<TraceReader> trace{new TraceReader};
    trace->path_ = path == "-" ? "standard input" : path;
    trace->options_ = options;
    trace->format_ = options.columns.empty() ? options.format : "columns";
    trace->reason_ = "named";
    if (trace->format_ == "auto") {
        const auto sample = reader->peek();
        if (!sample) return std::unexpected(sample.error());
        const auto detected = detect(without_mark(*sample), options.action);
        if (!detected) return std::unexpected(fmt::format("{}: {}", trace->path_, is_utf16(*sample) ? utf16_remedy : detected.error()));
        trace->format_ = detected->format;
        trace->reason_ = detected->reason;
    }
    auto source = make_source(path, trace->format_, options, std::move(reader));
    if (!source) return std::unexpected(source.error());
    trace->source_ = std::move(*source);
    return trace;
}

std::expected<std::unique_ptr<TraceReader>, std::string> TraceReader::read(const std::string& path, std::string_view format, std::string_view reason,
                                                                           const TraceOptions& options,
                                                                           std::expected<std::unique_ptr<TraceSource>, std::string> source) {
    if (!source) return std::unexpected(source.error());
    std::unique_ptr<TraceReader> trace{new TraceReader};
    trace->path_ = path;
    trace->options_ = options;
    trace->format_ = format;
    trace->reason_ = reason;
    trace->source_ = std::move(*source);
    return trace;
}

std::expected<bool, std::string> TraceReader::next(TraceRequest& request) {
    for (;;) {
        const auto parse = source_->next(request);
        if (!parse) return std::unexpected(fmt::format("{}: {}", path_, parse.error()));
        if (!*parse) {
            if (counts_.requests == 0)
                return std::unexpected(fmt::format("{}: no request in {} lines read as {}; name another --format", path_, counts_.lines, format_));
            if (!options_.skip_bad && counts_.bad * 100 > counts_.lines)
                return std::unexpected(fmt::format("{}: {} of {} lines are bad; --skip-bad goes on all the same", path_, counts_.bad, counts_.lines));
            return false;
        }
        ++counts_.lines;
        TraceParse found = **parse;
        if (found.kind == TraceParse::Kind::request && counts_.requests != 0 && request.time_ns > first_time_ns_ &&
            request.time_ns - first_time_ns_ > longest_ns)
            found = TraceParse::bad(0, "the time is more than a century after the first request's");
        if (found.kind == TraceParse::Kind::request && request.bytes > longest_request_bytes(request.op))
            found = TraceParse::bad(0, "the request is longer than anything can be");
        if (found.kind == TraceParse::Kind::request) break;
        if (found.kind == TraceParse::Kind::other)
            ++counts_.others;
        else if (auto noted = note_bad(found); !noted)
            return std::unexpected(noted.error());
    }
    if (counts_.requests++ == 0) first_time_ns_ = last_time_ns_ = previous_time_ns_ = request.time_ns;
    counts_.backward_steps += request.time_ns < previous_time_ns_ ? 1 : 0;
    previous_time_ns_ = request.time_ns;
    last_time_ns_ = std::max(last_time_ns_, request.time_ns);
    request.time_ns = last_time_ns_ - first_time_ns_;
    return true;
}

std::expected<void, std::string> TraceReader::note_bad(const TraceParse& parse) {
    ++counts_.bad;
    const std::string column = parse.column == 0 ? "" : fmt::format(", field {}", parse.column);
    const std::string text = fmt::format("{}: {}{}: {}", path_, source_->where(), column, parse.why);
    if (options_.complain && counts_.bad <= complaints_shown) options_.complain(text);
    if (!options_.skip_bad && counts_.bad * 100 > counts_.lines && counts_.bad >= 10)
        return std::unexpected(fmt::format("{} ({} of {} lines are bad as {}; {}--skip-bad goes on all the same)", text, counts_.bad, counts_.lines,
                                           format_, counts_.requests == 0 ? "without --format its content tells what it is; " : ""));
    return {};
}

} // namespace flashlab
