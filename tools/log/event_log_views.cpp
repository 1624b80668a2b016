#include "tools/log/event_log_views.h"

#include <array>

#include <fmt/format.h>

namespace flashlab {
namespace {

/// What follows AS stands as the database keeps it: a change makes a new version.
constexpr std::array views{
    LogView{"v_run_totals", "the last sample of each run: its totals", R"(
SELECT s.* FROM sample s JOIN (SELECT run, max(sample) AS sample FROM sample GROUP BY run) USING(run, sample))"},
    LogView{"v_waf_by_cause", "write amplification over all runs, split by why a page was programmed; the rows add up to the whole", R"(
SELECT c.name AS cause, sum(n.page_programs) AS page_programs, sum(n.page_programs * r.page_bytes) AS programmed_bytes,
  round(sum(n.page_programs * r.page_bytes) * 1.0 / nullif((SELECT sum(host_write_bytes) FROM v_run_totals), 0), 4) AS waf
FROM v_run_totals t JOIN run r USING(run) JOIN sample_nand n USING(sample) JOIN cause_name c USING(cause)
GROUP BY n.cause ORDER BY n.cause)"},
    LogView{"v_waf",
            "write amplification in four parts that add up to it: of the host's pages, collections (and levelling), merges, the drive's own (map, "
            "recovery, backup)",
            R"(
SELECT round(sum(b) / h, 4) AS waf, round(sum(b * (cause = 'user')) / h, 4) AS waf_user, round(sum(b * (cause IN ('gc', 'wear'))) / h, 4) AS waf_gc,
  round(sum(b * (cause = 'merge')) / h, 4) AS waf_merge, round(sum(b * (cause IN ('map', 'recovery', 'backup'))) / h, 4) AS waf_map
FROM (SELECT cause, programmed_bytes * 1.0 AS b, (SELECT nullif(sum(host_write_bytes), 0) FROM v_run_totals) AS h FROM v_waf_by_cause))"},
    LogView{"v_waf_over_time", "write amplification between two samples", R"(
SELECT run, ts_ns / 1e9 AS t_s, written AS host_write_bytes, programmed AS programmed_bytes, round(programmed * 1.0 / nullif(written, 0), 4) AS waf FROM (
  SELECT s.run, s.ts_ns, s.host_write_bytes - lag(s.host_write_bytes, 1, 0) OVER w AS written, p.bytes - lag(p.bytes, 1, 0) OVER w AS programmed
  FROM sample s JOIN (SELECT n.sample, sum(n.page_programs * r.page_bytes) AS bytes FROM sample_nand n JOIN sample USING(sample) JOIN run r USING(run)
    GROUP BY n.sample) p USING(sample)
  WINDOW w AS (PARTITION BY s.run ORDER BY s.sample)))"},
    LogView{"v_latency_pct", "latency of each file system operation, in the last run that had it", R"(
SELECT o.name AS op, l.calls, l.errors, l.p50_ns / 1e3 AS p50_us, l.p99_ns / 1e3 AS p99_us, l.max_ns / 1e3 AS max_us
FROM fs_latency l JOIN (SELECT op, max(sample) AS sample FROM fs_latency GROUP BY op) USING(op, sample) JOIN fs_op_name o USING(op)
ORDER BY l.calls DESC)"},
    LogView{"v_channel_util", "how busy the channels' buses were, busiest first, run by run", R"(
SELECT t.run, c.channel, c.busy_ns, round(c.busy_ns * 1.0 / nullif(t.ts_ns - r.start_ns, 0), 6) AS utilisation
FROM v_run_totals t JOIN run r USING(run) JOIN sample_channel c USING(sample) ORDER BY t.run DESC, c.busy_ns DESC)"},
    LogView{"v_gc_cost", "garbage collection: victims, pages copied, NAND time (level all)", R"(
SELECT c.name AS cause, count(*) AS jobs, sum(j.valid_pages) AS pages_copied, round(avg(j.valid_pages), 2) AS pages_a_victim, sum(j.dur_ns) / 1e6 AS time_ms
FROM gc_job j JOIN cause_name c USING(cause) GROUP BY j.cause)"},
    LogView{"v_wear_hist", "blocks by erase count, at the end of the last run",
            R"( SELECT erase_count, blocks FROM wear WHERE run = (SELECT max(run) FROM wear) ORDER BY erase_count)"},
    LogView{"v_nand_ops", "operations on the flash by kind and cause (level all)", R"(
SELECT o.name AS op, c.name AS cause, count(*) AS commands, sum(n.pages) AS pages, sum(n.dur_ns) / 1e6 AS time_ms
FROM nand_op n JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) GROUP BY n.op, n.cause)"},
    LogView{"v_host_requests",
            "host requests by kind, with percentiles of their latency (level requests); the pieces of a split one are one, answered with the last",
            R"(
SELECT o.name AS op, max(n) AS requests, sum(sectors) * 512 AS bytes, avg(dur_ns) / 1e3 AS mean_us, max(CASE WHEN i <= (n + 1) / 2 THEN dur_ns END) / 1e3 AS p50_us,
  max(CASE WHEN i <= (n * 99 + 99) / 100 THEN dur_ns END) / 1e3 AS p99_us, max(dur_ns) / 1e3 AS max_us, sum(failed) AS failed
FROM (SELECT op, dur_ns, sectors, failed, row_number() OVER (PARTITION BY op ORDER BY dur_ns) AS i, count(*) OVER (PARTITION BY op) AS n
  FROM (SELECT op, max(dur_ns) AS dur_ns, sum(sectors) AS sectors, max(failed) AS failed
    FROM (SELECT *, sum(piece = 0 OR (piece = 1 AND before <> 1)) OVER (ORDER BY id) AS whole FROM (SELECT *, lag(piece, 1, 0) OVER (ORDER BY id) AS before FROM host_request))
    GROUP BY whole))
  JOIN host_op_name o USING(op) GROUP BY op)"},
    LogView{"v_pram_words", "PRAM words by user (level all): what the diff saved is compared - home", R"(
SELECT u.name AS user, count(*) AS transactions, sum(p.log_words) AS log_words, sum(p.home_words) AS home_words, sum(p.compared_words) AS compared_words,
  round(avg(p.home_words), 2) AS home_words_a_transaction
FROM pram_write p JOIN pram_user_name u USING(user) GROUP BY p.user)"},
    LogView{"v_partition", "who got more of the DRAM, and why: the last decisions first", R"(
SELECT run, ts_ns / 1e9 AS t_s, buffer_benefit, map_benefit, map_bytes - map_bytes_before AS to_map_bytes, map_bytes, buffer_bytes,
  buffer_ghost_reads + buffer_ghost_writes AS buffer_ghost_hits, map_ghost_reads + map_ghost_writes AS map_ghost_hits
FROM partition_decision ORDER BY n DESC)"},
    LogView{"v_recovery", "mounts, cuts and recoveries in order", R"(
SELECT p.run, p.ts_ns / 1e9 AS t_s, k.name AS what, p.recovery_ns / 1e6 AS recovery_ms, p.pages_scanned, p.operations_torn, p.operations_undone,
  p.words_torn, p.words_undone
FROM power p JOIN power_kind_name k USING(kind) ORDER BY p.n)"},
    LogView{"v_unreadable", "data that the flash did not give back: where, how often it was asked for, whose it is", R"(
SELECT u.run, min(u.ts_ns) / 1e9 AS first_t_s, o.name AS op, u.bad_sector, count(*) AS requests, f.path, f.ino, f.offset_bytes, f.bytes
FROM uncorrectable_read u JOIN host_op_name o USING(op) LEFT JOIN unreadable_file f USING(request)
GROUP BY u.run, u.op, u.bad_sector, f.ino, f.offset_bytes ORDER BY u.run, first_t_s)"}};

} // namespace

std::span<const LogView> event_log_view_list() { return views; }

std::string event_log_views() {
    std::string out;
    for (const LogView& view : views)
        out += fmt::format("{}-- {}\nCREATE VIEW {} AS{};\n", out.empty() ? "" : "\n", view.about, view.name, view.select);
    return out;
}

} // namespace flashlab
