#include "tools/report/log_report.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/log/event_level.h"
#include "tools/log/event_log_schema.h"
#include "tools/log/run_cautions.h"
#include "tools/report/log_passes.h"
#include "tools/report/log_run.h"

namespace flashlab {
namespace {

/// As it was in force, without what it means.
std::string without_comments(std::string_view toml) {
    std::string out;
    for (std::size_t at = 0; at < toml.size();) {
        const std::size_t end = std::min(toml.find('\n', at), toml.size() - 1) + 1;
        if (toml[at] != '#') out += toml.substr(at, end - at);
        at = end;
    }
    return out;
}

/// Five digits: a plot shows no more, and the page stays small.
Json rounded(double value) { return Json{std::stod(fmt::format("{:.5g}", value))}; }

class RunReport {
public:
    RunReport(LogRowsReader& log, LogRunRange range, const LogReportOptions& options) : log_{log}, range_{std::move(range)}, options_{options} {}

    std::expected<Json, std::string> make(const std::string& name) {
        has_requests_ = log_.number("SELECT EXISTS(SELECT 1 FROM host_request WHERE " + range_.ids() + ")").value_or(0) != 0;
        has_operations_ = log_.number("SELECT EXISTS(SELECT 1 FROM nand_op WHERE " + range_.rows("nand_op") + ")").value_or(0) != 0;
        const auto last =
            log_.number("SELECT max(ts_ns + dur_ns) FROM (SELECT * FROM host_request WHERE " + range_.ids() + " ORDER BY id DESC LIMIT 4096)");
        if (std::min(range_.start_ns, range_.end_ns) < 0 || std::max(range_.start_ns, range_.end_ns) > longest_plausible_ns)
            return std::unexpected(
                fmt::format("run {} begins or ends at a time that no drive has: the log was damaged or changed; see it with: flashlab "
                            "query LOG \"SELECT run, start_ns FROM run\" and \"SELECT run, ts_ns FROM sample\"",
                            range_.run));
        end_ns_ = std::max({range_.end_ns, std::clamp<std::int64_t>(last.value_or(0), 0, longest_plausible_ns), range_.start_ns + 1});
        out_.add("name", name);
        out_.add("source", "log");
        out_.add("level", name_of(level()));
        add_identity();
        RequestPass requests{range_.start_ns, end_ns_};
        OperationPass operations{range_.start_ns, end_ns_};
        if (has_requests_)
            if (auto done = requests.read(log_, range_, options_.progress); !done) return std::unexpected(done.error());
        if (has_operations_)
            if (auto done = operations.read(log_, range_, options_.progress); !done) return std::unexpected(done.error());
        has_all_requests_ = has_requests_ && requests.rows() >= number("SELECT total(host_reads + host_writes + host_trims + host_flushes) FROM "
                                                                       "v_run_totals WHERE run = {}");
        has_all_operations_ = has_operations_ && operations.pages() >= number("SELECT total(page_reads + page_programs + block_erases) FROM "
                                                                              "v_run_totals JOIN sample_nand USING(sample) WHERE run = {}");
        if (has_requests_ && !has_all_requests_)
            out_.add("partly", "requests");
        else if (has_operations_ && !has_all_operations_)
            out_.add("partly", "operations");
        add_overview(requests);
        add_cautions();
        thin_samples();
        out_.add("latency", has_requests_ ? requests.latency() : Json{});
        out_.add("throughput", has_all_requests_ ? requests.throughput() : sampled_throughput());
        add_over_time(requests, operations);
        out_.add("heat", has_all_operations_ ? operations.heat() : sampled_heat());
        out_.add("chips", has_operations_ ? operations.chip_heat() : Json{});
        add_tables();
        if (!failure_.empty()) return std::unexpected(failure_);
        return std::move(out_);
    }

private:
    /// The most detailed one that some of the run was logged at. Logs of before version 20 do not say it.
    EventLevel level() {
        const auto told = log_.number(fmt::format("SELECT max(level) FROM logged WHERE run = {}", range_.run));
        const auto seen = has_operations_ ? EventLevel::all : has_requests_ ? EventLevel::requests : EventLevel::summary;
        return std::max(seen, static_cast<EventLevel>(std::clamp<std::int64_t>(told.value_or(0), 0, 3)));
    }
    void add_identity() {
        Json info = Json::object({{"run", range_.run},
                                  {"kind", range_.kind},
                                  {"ftl", range_.setting("scheme")},
                                  {"preset", range_.setting("preset")},
                                  {"version", range_.version},
                                  {"config_hash", range_.config_hash},
                                  {"seed", range_.seed},
                                  {"rows_dropped", range_.rows_dropped}});
        if (log_.has_table("load"))
            each("SELECT name, seed FROM load WHERE run = {}", [&](const LogRow& row) {
                info.add("load", row.text(0));
                info.add("load_seed", row.number(1));
            });
        out_.add("info", std::move(info));
        out_.add("config_toml", without_comments(range_.config_toml));
    }

    /// The keys of `replay --json`, of what the log knows.
    void add_overview(const RequestPass& requests) {
        Json o{Json::Object{}};
        add_essentials(o, requests);
        // To the last answer, as `replay --json` has it: the flash may work on. Where requests are not all logged, up to the last sample.
        const std::int64_t end_ns = has_all_requests_ ? requests.answered_ns() : range_.end_ns;
        const double seconds = static_cast<double>(end_ns - range_.start_ns) / 1e9;
        each("SELECT host_reads, host_writes, host_trims, host_flushes, host_read_bytes, host_write_bytes, pram_words_written, free_blocks FROM "
             "v_run_totals WHERE run = {}",
             [&](const LogRow& r) {
                 std::array<std::int64_t, host_op_names.size()> of_op{};
                 for (std::size_t op = 0; op < of_op.size(); ++op) of_op[op] = requests.whole(op, r.number(static_cast<int>(op)));
                 const std::int64_t all = std::accumulate(of_op.begin(), of_op.end(), std::int64_t{0});
                 o.add("requests", all);
                 for (std::size_t op = 0; op < of_op.size(); ++op) o.add(std::array{"reads", "writes", "trims", "flushes"}[op], of_op[op]);
                 const std::int64_t read = r.number(4) - requests.failed_bytes(HostOp::read);
                 const std::int64_t written = r.number(5) - requests.failed_bytes(HostOp::write);
                 o.add("host_read_bytes", read);
                 o.add("host_write_bytes", written);
                 o.add("pram_words_written", r.number(6));
                 o.add("free_blocks", r.number(7));
                 if (seconds <= 0) return;
                 o.add("iops", rounded(static_cast<double>(all) / seconds));
                 o.add("read_mb_s", rounded(static_cast<double>(read) / 1e6 / seconds));
                 o.add("write_mb_s", rounded(static_cast<double>(written) / 1e6 / seconds));
             });
        o.add("sim_seconds", seconds);
        each("SELECT sum(page_reads), sum(page_programs), sum(block_erases) FROM v_run_totals t JOIN sample_nand USING(sample) WHERE run = {}",
             [&](const LogRow& r) {
                 o.add("nand_read_pages", r.number(0));
                 o.add("nand_program_pages", r.number(1));
                 o.add("nand_erase_blocks", r.number(2));
             });
        static constexpr std::array of_scheme{"gc_jobs",     "gc_page_copies", "switch_merges", "partial_merges",
                                              "full_merges", "read_pages",     "unmapped_reads"};
        if (log_.has_table("sample_scheme"))
            each("SELECT gc_jobs, gc_page_copies, switch_merges, partial_merges, full_merges, read_pages, unmapped_reads FROM v_run_totals JOIN "
                 "sample_scheme USING(sample) WHERE run = {}",
                 [&](const LogRow& r) {
                     for (std::size_t i = 0; i < of_scheme.size(); ++i)
                         if (const int c = static_cast<int>(i); !r.is_null(c)) o.add(of_scheme[i], r.number(c));
                 });
        if (log_.has_table("sample_counter"))
            each("SELECT name, value FROM v_counters WHERE run = {}", [&](const LogRow& r) { o.add(r.text(0), r.number(1)); });
        out_.add("overview", std::move(o));
    }

    /// What makes the figures say less than they seem to, in sentences for the page.
    void add_cautions() {
        Json cautions{Json::Array{}};
        double raw_bytes = static_cast<double>(range_.page_bytes);
        for (const char* key : {"channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block"})
            raw_bytes *= number_of(range_.setting(key)).real();
        const auto written = static_cast<double>(number("SELECT total(host_write_bytes) FROM v_run_totals WHERE run = {}"));
        if (written > 0 && wrote_little(written, raw_bytes)) {
            out_.add("is_short", true);
            cautions.push("It wrote less than 2 % of the drive: write amplification depends on what the writes before it left to do.");
        }
        if (log_.has_table("sample_scheme"))
            each("SELECT s.read_pages, s.unmapped_reads, s.buffer_write_misses, (SELECT ifnull(sum(page_programs), 0) FROM sample_nand n "
                 "WHERE n.sample = s.sample AND cause = 0) FROM v_run_totals JOIN sample_scheme s USING(sample) WHERE run = {}",
                 [&](const LogRow& r) {
                     const auto count = [&r](int column) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, r.number(column))); };
                     const std::uint64_t read = count(0), unmapped = count(1), came = count(2);
                     if (reads_much_of_nothing(unmapped, read))
                         cautions.push(
                             fmt::format("{} of the {} pages that it read hold nothing: no flash is read for them, and latencies look better "
                                         "than they are.",
                                         unmapped, read));
                     if (const std::uint64_t stay = pages_still_buffered(came, count(3)); stay != 0)
                         cautions.push(
                             fmt::format("{} of the {} pages that it wrote still lie in the write buffer: write amplification leaves out what "
                                         "they will cost.",
                                         stay, came));
                 });
        out_.add("cautions", std::move(cautions));
    }

    /// What a reader looks for first: write amplification, latencies, how much the host may write until the flash is worn out.
    void add_essentials(Json& o, const RequestPass& requests) {
        const double erases =
            static_cast<double>(number("SELECT total(block_erases) FROM v_run_totals JOIN sample_nand USING(sample) WHERE run = {}"));
        const auto blocks = static_cast<double>(number("SELECT total(blocks) FROM wear WHERE run = {}"));
        each("SELECT host_write_bytes, total(page_programs) * page_bytes FROM v_run_totals JOIN run USING(run) JOIN sample_nand USING(sample) WHERE "
             "run = {}",
             [&](const LogRow& r) {
                 const double written = r.real(0), programmed = r.real(1);
                 o.add("waf", written == 0 ? Json{} : rounded(programmed / written));
                 // What is worn is a chip's; blocks are counted as the translation layer sees them, with stripes or parity one of several chips.
                 const double block_bytes = number_of(range_.setting("pages_per_block")).real() * static_cast<double>(range_.page_bytes);
                 double members = 1;
                 for (const char* key : {"striping", "rain"}) members = std::max(members, number_of(range_.setting(key)).real());
                 const double worn = std::max(programmed, erases * block_bytes), cycles = number_of(range_.setting("endurance_cycles")).real();
                 if (written > 0 && worn > 0 && cycles * blocks > 0)
                     o.add("tbw_bytes", rounded(cycles * blocks * members * block_bytes * written / worn));
             });
        requests.add_to_overview(o);
        if (has_requests_) return;
        each("SELECT o.name, l.p50_ns / 1e3, l.p99_ns / 1e3, l.max_ns / 1e3 FROM fs_latency l JOIN v_run_totals t USING(sample) JOIN fs_op_name o "
             "USING(op) WHERE t.run = {} AND o.name IN ('read', 'write', 'fsync') ORDER BY op",
             [&](const LogRow& r) {
                 for (int i = 1; i <= 3; ++i)
                     o.add(fmt::format("call_latency_us.{}.{}", r.text(0), std::array{"p50", "p99", "max"}[static_cast<std::size_t>(i - 1)]),
                           rounded(r.real(i)));
             });
    }

    static double seconds_of(const LogRow& row) { return row.real(0) / 1e9; }

    /// Of many samples every so many: what lies between two of them is then that of all of it.
    void thin_samples() {
        const std::int64_t step = std::max<std::int64_t>(1, number("SELECT count(*) FROM sample WHERE run = {}") / most_points);
        const auto made = log_.db().execute(fmt::format("DROP TABLE IF EXISTS temp.shown_sample; CREATE TEMP TABLE shown_sample AS SELECT * FROM "
                                                        "sample WHERE run = {0} AND (sample % {1} = 0 OR sample = (SELECT max(sample) FROM sample "
                                                        "WHERE run = {0}))",
                                                        range_.run, step));
        if (!made) failure_ = made.error();
    }

    /// Columns of numbers by name, one row a sample; of many rows every so many.
    Json columns(const std::vector<std::string>& names, const std::string& sql) {
        std::vector<Json> lists(names.size(), Json{Json::Array{}});
        const std::int64_t rows = number("SELECT count(*) FROM (" + sql + ")");
        const std::int64_t step = std::max<std::int64_t>(1, rows / most_points);
        std::int64_t at = 0;
        each(sql, [&](const LogRow& row) {
            if (++at % step != 0 && at != rows) return;
            for (std::size_t c = 0; c < names.size(); ++c)
                lists[c].push(row.is_null(static_cast<int>(c)) ? Json{} : rounded(row.real(static_cast<int>(c))));
        });
        if (lists.front().items().empty()) return {};
        Json out{Json::Object{}};
        for (std::size_t c = 0; c < names.size(); ++c) out.add(names[c], std::move(lists[c]));
        return out;
    }

    Json sampled_throughput() {
        return columns({"t_s", "iops", "read_mb_s", "write_mb_s"}, R"(
SELECT (ts_ns - s0) / 1e9, (n - lag(n, 1, 0) OVER w) * 1e9 / nullif(d, 0), (rb - lag(rb, 1, 0) OVER w) * 1e3 / nullif(d, 0), (wb - lag(wb, 1, 0) OVER w) * 1e3 / nullif(d, 0)
FROM (SELECT ts_ns, r.start_ns AS s0, ts_ns - lag(ts_ns, 1, r.start_ns) OVER (ORDER BY sample) AS d, sample,
  host_reads + host_writes + host_trims + host_flushes AS n, host_read_bytes AS rb, host_write_bytes AS wb FROM shown_sample JOIN run r USING(run) WHERE run = {})
WINDOW w AS (ORDER BY sample))");
    }

    Json sampled_amplification() {
        const auto programs_of = [](std::span<const Cause> causes) {
            std::vector<int> numbers;
            for (const Cause cause : causes) numbers.push_back(static_cast<int>(cause));
            return fmt::format("sum(page_programs * (cause IN ({})))", fmt::join(numbers, ", "));
        };
        return columns({"t_s", "waf", "user", "gc", "merge", "map", "other"},
                       R"(
SELECT (ts_ns - s0) / 1e9, (p - lag(p, 1, 0) OVER w) * b, (pu - lag(pu, 1, 0) OVER w) * b, (pg - lag(pg, 1, 0) OVER w) * b, (pm - lag(pm, 1, 0) OVER w) * b,
  (pt - lag(pt, 1, 0) OVER w) * b, (po - lag(po, 1, 0) OVER w) * b
FROM (SELECT s.sample, s.ts_ns, r.start_ns AS s0, r.page_bytes * 1.0 / nullif(s.host_write_bytes - lag(s.host_write_bytes, 1, 0) OVER (ORDER BY s.sample), 0) AS b,
  coalesce(n.p, 0) AS p, coalesce(n.pu, 0) AS pu, coalesce(n.pg, 0) AS pg, coalesce(n.pm, 0) AS pm, coalesce(n.pt, 0) AS pt, coalesce(n.po, 0) AS po FROM shown_sample s JOIN run r USING(run) LEFT JOIN (SELECT sample, sum(page_programs) AS p, )" +
                           programs_of(std::array{Cause::user}) + " AS pu, " + programs_of(causes_of_gc) + " AS pg, " +
                           programs_of(std::array{Cause::merge}) + " AS pm, " + programs_of(std::array{Cause::map}) + " AS pt, " +
                           programs_of(causes_of_others) + R"( AS po FROM sample_nand GROUP BY sample) n USING(sample) WHERE s.run = {})
WINDOW w AS (ORDER BY sample))");
    }

    void add_over_time(const RequestPass& requests, const OperationPass& operations) {
        out_.add("waf", has_all_operations_ && has_all_requests_ ? operations.amplification(requests.written(), range_.page_bytes)
                                                                 : sampled_amplification());
        out_.add("free",
                 columns({"t_s", "free_blocks"},
                         "SELECT (ts_ns - r.start_ns) / 1e9, free_blocks FROM shown_sample JOIN run r USING(run) WHERE run = {} ORDER BY sample"));
        if (log_.has_table("sample_scheme"))
            out_.add("cache", columns({"t_s", "buffer_reads", "buffer_writes", "map_reads", "map_writes"}, R"(
SELECT (ts_ns - s0) / 1e9, (a - lag(a, 1, 0) OVER w) * 100.0 / nullif(a + b - lag(a + b, 1, 0) OVER w, 0), (c - lag(c, 1, 0) OVER w) * 100.0 / nullif(c + d - lag(c + d, 1, 0) OVER w, 0),
  (e - lag(e, 1, 0) OVER w) * 100.0 / nullif(e + f - lag(e + f, 1, 0) OVER w, 0), (g - lag(g, 1, 0) OVER w) * 100.0 / nullif(g + h - lag(g + h, 1, 0) OVER w, 0)
FROM (SELECT sample, ts_ns, r.start_ns AS s0, buffer_read_hits AS a, buffer_read_misses AS b, buffer_write_hits AS c, buffer_write_misses AS d,
  map_read_hits AS e, map_read_misses AS f, map_write_hits AS g, map_write_misses AS h FROM shown_sample JOIN run r USING(run) JOIN sample_scheme USING(sample)
  WHERE run = {}) WINDOW w AS (ORDER BY sample))"));
        out_.add("partition",
                 columns({"t_s", "map_mib", "buffer_mib", "map_benefit", "buffer_benefit"},
                         "SELECT (ts_ns - r.start_ns) / 1e9, map_bytes / 1048576.0, buffer_bytes / 1048576.0, map_benefit, buffer_benefit FROM "
                         "partition_decision JOIN run r USING(run) WHERE run = {} ORDER BY n"));
    }

    Json sampled_heat() {
        std::vector<std::vector<double>> rows;
        TimeBins one{range_.start_ns, end_ns_, heat_bins};
        each("SELECT c.channel, s.ts_ns, lag(s.ts_ns, 1, r.start_ns) OVER w, c.busy_ns - lag(c.busy_ns, 1, 0) OVER w FROM sample s JOIN run r "
             "USING(run) "
             "JOIN sample_channel c USING(sample) WHERE s.run = {} WINDOW w AS (PARTITION BY c.channel ORDER BY s.sample)",
             [&](const LogRow& row) {
                 const auto channel = static_cast<std::size_t>(row.number(0));
                 if (channel >= rows.size()) rows.resize(channel + 1, std::vector<double>(heat_bins));
                 const std::int64_t from = row.number(2), to = row.number(1);
                 TimeBins share{range_.start_ns, end_ns_, heat_bins};
                 share.add_stretch(from, to);
                 if (to > from)
                     for (std::size_t b = 0; b < heat_bins; ++b) rows[channel][b] += share.values()[b] * row.real(3) / static_cast<double>(to - from);
             });
        return rows.empty() ? Json{} : heat_json("channel", rows, one.width_ns());
    }

    void add_tables() {
        const std::string run = fmt::format("{}", range_.run);
        out_.add("wear", table("SELECT erase_count, blocks FROM wear WHERE run = " + run + " ORDER BY erase_count"));
        if (log_.has_table("block"))
            out_.add(
                "blocks",
                table("SELECT block, name AS use, written_pages, valid_pages, erase_count FROM block JOIN block_use_name USING(use) WHERE run = " +
                      run + " ORDER BY block"));
        const std::int64_t most = log_.has_table("block") ? number("SELECT coalesce(max(pages), 0) FROM block WHERE run = {}") : 0;
        out_.add("pages_per_block", most > 0 ? Json{most} : number_of(range_.setting("pages_per_block")));
        out_.add("calls",
                 table("SELECT o.name AS op, l.calls, l.errors, l.p50_ns / 1e3 AS p50_us, l.p99_ns / 1e3 AS p99_us, l.max_ns / 1e3 AS max_us FROM "
                       "fs_latency l JOIN v_run_totals t USING(sample) JOIN fs_op_name o USING(op) WHERE t.run = " +
                       run + " ORDER BY l.calls DESC"));
        out_.add("causes", table("SELECT c.name AS cause, page_reads, page_programs, block_erases, round(page_programs * page_bytes * 1.0 / "
                                 "nullif(host_write_bytes, 0), 4) AS waf FROM v_run_totals t JOIN run USING(run) JOIN sample_nand USING(sample) JOIN "
                                 "cause_name c USING(cause) WHERE run = " +
                                 run + " ORDER BY cause"));
        if (has_operations_)
            out_.add("collections", table(R"(
SELECT c.name AS cause, count(*) AS jobs, sum(valid_pages) AS pages_copied, round(avg(valid_pages), 2) AS pages_a_victim, max(valid_pages) AS most_pages,
  round(sum(dur_ns) / 1e6, 3) AS time_ms, round(max(dur_ns) / 1e6, 3) AS longest_ms FROM gc_job JOIN cause_name c USING(cause) WHERE )" +
                                          range_.ids() + " GROUP BY cause"));
        out_.add("power",
                 table("SELECT round(t_s - start_ns / 1e9, 6) AS t_s, what, recovery_ms, pages_scanned, operations_torn, operations_undone FROM "
                       "v_recovery JOIN run USING(run) WHERE run = " +
                       run));
        if (has_requests_ && number("SELECT EXISTS(SELECT 1 FROM host_request WHERE (queue <> 0 OR waited_ns <> 0) AND " + range_.ids() + ")") != 0)
            out_.add(
                "queues",
                table("SELECT queue, requests, bytes, mean_waited_us, max_waited_us, mean_us, p50_us, p99_us, max_us FROM v_queues WHERE run = " +
                      run));
        if (has_requests_) add_blame();
    }

    /// v_blame and v_blame_request of this run, from one evaluation of v_blame_part.
    void add_blame() {
        if (auto made = make_blame_table(log_, range_.run, options_.blame_progress); !made) {
            failure_ = made.error();
            return;
        }
        out_.add("blame",
                 table("SELECT what, requests, ns, round(ns * 1.0 / sum(ns) OVER (), 6) AS share, meaning FROM (SELECT class, what, meaning, "
                       "count(*) AS requests, sum(ns) AS ns FROM blamed GROUP BY class) ORDER BY ns DESC"));
        out_.add("slowest",
                 table(fmt::format("SELECT id, name AS op, round((min(ts_ns) - {}) / 1e9, 6) AS t_s, dur_ns / 1e3 AS us, group_concat(what || ' ' || "
                                   "round(ns / 1e3, 1), ', ') AS waited_us FROM (SELECT * FROM blamed ORDER BY id, ns DESC) JOIN host_op_name "
                                   "USING(op) GROUP BY id ORDER BY dur_ns DESC, id LIMIT 20",
                                   range_.start_ns)));
    }

    static Json number_of(const std::string& text) {
        return text.empty() || text.find_first_not_of("0123456789") != std::string::npos ? Json{} : Json{std::int64_t{std::stoll(text)}};
    }
    Json table(const std::string& sql) {
        auto found = log_.table(sql);
        if (found) return std::move(*found);
        failure_ = found.error();
        return {};
    }
    /// `{}` and `{0}` in the SQL stand for the run.
    void each(const std::string& sql, const std::function<void(const LogRow&)>& row) {
        if (auto done = log_.read(fmt::format(fmt::runtime(sql), range_.run), row); !done) failure_ = done.error();
    }
    std::int64_t number(const std::string& sql) { return log_.number(fmt::format(fmt::runtime(sql), range_.run)).value_or(0); }

    static constexpr std::int64_t most_points = 1000;
    LogRowsReader& log_;
    LogRunRange range_;
    const LogReportOptions& options_;
    bool has_requests_ = false, has_operations_ = false;
    bool has_all_requests_ = false, has_all_operations_ = false; ///< that the run's counters have counted
    std::int64_t end_ns_ = 0;
    std::string failure_;
    Json out_{Json::Object{}};
};

} // namespace

std::expected<Json, std::string> report_log(const std::string& path, const std::string& name, const LogReportOptions& options) {
    auto log = LogRowsReader::open(path);
    if (!log) return std::unexpected(log.error());
    auto range = find_run(*log, options.run);
    if (!range) return std::unexpected(fmt::format("{}: {}", path, range.error()));
    auto report = RunReport{*log, std::move(*range), options}.make(name);
    if (!report) return std::unexpected(fmt::format("{}: {}", path, report.error()));
    return report;
}

} // namespace flashlab
