#include "tools/log/event_log_views.h"

#include <array>

#include <fmt/format.h>

#include "tools/log/event_log_schema.h"
#include "tools/log/event_tables.h"

namespace flashlab {
namespace {

/// The views of the event log that say what slow requests waited for.
///
/// Idea       The time of a request is cut where something begins or ends that concerns it. Each piece goes to the first in a list of what went on
///            then: its own transfer, its own cells, its map, its PRAM, then what others did on its planes and channels, then what the flash did
///            anywhere. Equal steps of time lead from a request to the operations beside it. A step is eight times the mean operation: one that
///            waited long in a queue must not widen it.
/// Invariant  The pieces of a request add up to its latency from the submission on, to the nanosecond, whatever the log lacks. `rest` is what nothing
///            recorded explains.
/// Cost       Grows as the log: four passes over nand_op, and a few microseconds for each operation beside a slow request. No index is needed: the
///            few requests have one of their own.
inline constexpr std::string_view blame_part_sql = R"(
WITH RECURSIVE span AS MATERIALIZED (
  SELECT run, first_id, last_id, v.first_op, v.last_op,
    coalesce((SELECT CAST(substr(config_toml, k + 23) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'request_overhead_ns = ') AS k) WHERE k > 0), 0) AS overhead_ns,
    coalesce((SELECT CAST(substr(config_toml, k + 15) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'ps_per_byte = ') AS k) WHERE k > 0), 0) AS ps_per_byte,
    coalesce((SELECT CAST(substr(config_toml, k + 25) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'controller_request_ns = ') AS k) WHERE k > 0), 0) AS controller_ns,
    instr(config_toml, char(10) || 'independent_planes = 0') > 0 AS by_die
  FROM run JOIN v_run_span v USING(run, first_id)),
slow AS MATERIALIZED (
  SELECT r.run, r.first_id, r.first_op, r.last_op, EXISTS(SELECT 1 FROM logged g WHERE g.run = r.run AND g.level = 3) OR EXISTS(SELECT 1 FROM nand_op WHERE n > r.first_op AND n <= r.last_op) AS has_ops, r.by_die, r.overhead_ns, r.ps_per_byte, h.id, h.op, h.ts_ns AS a, h.ts_ns + h.dur_ns AS c, h.waited_ns AS w,
    r.overhead_ns + (h.op = 1) * ((h.sectors * 512 * r.ps_per_byte + 999) / 1000) AS link_in, r.controller_ns,
    (h.op = 0 AND h.failed = 0) * ((h.sectors * 512 * r.ps_per_byte + 999) / 1000) AS link_out
  FROM (SELECT s.run, h.id, row_number() OVER (PARTITION BY s.run ORDER BY h.dur_ns + h.waited_ns DESC, h.id) AS place, count(*) OVER (PARTITION BY s.run) AS n
    FROM span s CROSS JOIN host_request h ON h.id > s.first_id AND h.id <= s.last_id) p JOIN span r USING(run) JOIN host_request h USING(id)
  WHERE p.place <= (p.n + 999) / 1000),
line AS MATERIALIZED (
  SELECT id, min(link_start, c) AS link_start FROM (SELECT id, c, max(a, max(at) - link_in) AS link_start
    FROM (SELECT s.id, s.a, s.c, s.link_in, h.ts_ns + sum(s.overhead_ns + (h.op = 1) * ((h.sectors * 512 * s.ps_per_byte + 999) / 1000)) OVER (PARTITION BY s.id ORDER BY h.id DESC) AS at
      FROM slow s CROSS JOIN host_request h ON h.id <= s.id AND h.id > max(s.first_id, s.id - 512)) GROUP BY id)),
own AS MATERIALIZED (
  SELECT s.id, o.cause, o.channel, CASE s.by_die WHEN 1 THEN o.die ELSE o.plane END AS lane, o.ts_ns, o.ts_ns + o.dur_ns AS end_ns, o.pages,
    o.ts_ns + o.bus_in_at_ns AS i0, o.bus_in_ns AS i, o.ts_ns + o.bus_out_at_ns AS o0, o.bus_out_ns AS o
  FROM nand_op o CROSS JOIN slow s ON s.id = o.parent),
step AS MATERIALIZED (SELECT CAST(max(ifnull(8 * avg(dur_ns), 0), (SELECT total(c - a) FROM slow) / (count(*) + 1)) AS INTEGER) + 1 AS ns FROM nand_op),
reach AS MATERIALIZED (
  SELECT s.id, s.run, l.link_start AS a, s.c, l.link_start / ns - 1 AS bucket, l.link_start / ns - 1 AS first, s.c / ns AS last FROM step CROSS JOIN slow s JOIN line l USING(id)
  UNION ALL SELECT id, run, a, c, bucket + 1, first, last FROM reach WHERE bucket < last),
reached AS MATERIALIZED (SELECT DISTINCT r.bucket, s.run, s.first_op, s.last_op, s.by_die FROM reach r JOIN span s USING(run)),
lasting AS MATERIALIZED (
  SELECT n, ts_ns / ns + 1 AS bucket, (ts_ns + dur_ns) / ns - 1 AS last FROM step CROSS JOIN nand_op WHERE (ts_ns + dur_ns) / ns - ts_ns / ns > 1
  UNION ALL SELECT n, bucket + 1, last FROM lasting WHERE bucket < last),
busy AS MATERIALIZED (
  SELECT r.run, o.ts_ns AS b, o.ts_ns + o.dur_ns AS e, o.cause, o.parent, o.channel, CASE r.by_die WHEN 1 THEN o.die ELSE o.plane END AS lane,
    o.bus_in_at_ns, o.bus_in_ns, o.bus_out_at_ns, o.bus_out_ns, r.bucket, 0 AS is_later
  FROM step CROSS JOIN nand_op o CROSS JOIN reached r ON r.bucket = o.ts_ns / ns AND o.n > r.first_op AND o.n <= r.last_op
  UNION ALL SELECT r.run, o.ts_ns, o.ts_ns + o.dur_ns, o.cause, o.parent, o.channel, CASE r.by_die WHEN 1 THEN o.die ELSE o.plane END,
    o.bus_in_at_ns, o.bus_in_ns, o.bus_out_at_ns, o.bus_out_ns, r.bucket, 1
  FROM lasting l CROSS JOIN nand_op o USING(n) CROSS JOIN reached r ON r.bucket = l.bucket AND o.n > r.first_op AND o.n <= r.last_op),
wanted AS MATERIALIZED (
  SELECT r.*, p.is_lane, p.place FROM (SELECT DISTINCT id, 1 AS is_lane, lane AS place FROM own UNION ALL SELECT DISTINCT id, 0, channel FROM own) p JOIN reach r USING(id)),
island AS (
  SELECT run, class, ifnull(lag(next) OVER v, first) AS b, until AS e FROM (SELECT run, class, max(e, ifnull(max(e) OVER w, e)) AS until, lead(b) OVER w AS next, ifnull(min(b) OVER w, b) AS first
    FROM (SELECT run, b, e, CASE WHEN cause IN (1, 2, 4, 7, 8) THEN 12 ELSE 13 END AS class FROM busy)
    WINDOW w AS (PARTITION BY run, class ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
  WHERE next IS NULL OR next > until WINDOW v AS (PARTITION BY run, class ORDER BY until)),
elsewhere AS MATERIALIZED (
  SELECT run, class, b, e, b / ns AS bucket, 0 AS is_later, e / ns AS last FROM island, step
  UNION ALL SELECT run, class, b, e, bucket + 1, 1, last FROM elsewhere WHERE bucket < last),
piece AS (
  SELECT s.id, s.a AS b, l.link_start AS e, 0 AS class FROM slow s JOIN line l USING(id)
  UNION ALL SELECT s.id, l.link_start, l.link_start + s.link_in + s.controller_ns, 1 FROM slow s JOIN line l USING(id)
  UNION ALL SELECT id, c - link_out, c, 1 FROM slow WHERE link_out > 0
  UNION ALL SELECT id, i0, i0 + i, 2 FROM own WHERE pages = 1 AND cause = 0
  UNION ALL SELECT id, o0, o0 + o, 2 FROM own WHERE pages = 1 AND cause = 0
  UNION ALL SELECT id, ts_ns, end_ns, CASE WHEN cause IN (0, 9) THEN 3 WHEN cause IN (1, 2, 4, 7, 8) THEN 12 ELSE 4 END FROM own
  UNION ALL SELECT s.id, p.ts_ns, p.ts_ns + p.dur_ns, 5 FROM pram_write p CROSS JOIN slow s ON s.id = p.parent
  UNION ALL SELECT w.id, o.b, o.e, CASE o.cause WHEN 0 THEN 6 WHEN 1 THEN 7 WHEN 2 THEN 8 WHEN 3 THEN 9 WHEN 7 THEN 7 WHEN 8 THEN 7 ELSE 10 END
    FROM busy o CROSS JOIN wanted w ON w.is_lane = 1 AND w.place = o.lane AND w.bucket = o.bucket AND w.run = o.run
    WHERE (o.is_later = 0 OR w.bucket = w.first) AND o.parent IS NOT w.id
  UNION ALL SELECT w.id, o.b + p.j * o.bus_out_at_ns + (1 - p.j) * o.bus_in_at_ns, o.b + p.j * (o.bus_out_at_ns + o.bus_out_ns) + (1 - p.j) * (o.bus_in_at_ns + o.bus_in_ns), 11
    FROM busy o CROSS JOIN wanted w ON w.is_lane = 0 AND w.place = o.channel AND w.bucket = o.bucket AND w.run = o.run JOIN (SELECT 0 AS j UNION ALL SELECT 1) p
    WHERE (o.is_later = 0 OR w.bucket = w.first) AND o.parent IS NOT w.id
  UNION ALL SELECT r.id, o.b, o.e, o.class FROM elsewhere o CROSS JOIN reach r ON r.bucket = o.bucket AND r.run = o.run WHERE o.is_later = 0 OR r.bucket = r.first),
stretch AS MATERIALIZED (
  SELECT id, class, b, max(e, ifnull(before, e)) AS e, before, next FROM (SELECT id, class, b, e, max(e) OVER w AS before, lead(b) OVER w AS next
    FROM (SELECT p.id, p.class, max(p.b, s.a) AS b, min(p.e, s.c) AS e FROM piece p JOIN slow s USING(id) WHERE p.b < s.c AND p.e > s.a AND p.e > p.b)
    WINDOW w AS (PARTITION BY id, class ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))),
edge AS (
  SELECT id, b AS t, 1 << class AS d FROM stretch WHERE before IS NULL OR b > before
  UNION ALL SELECT id, e, -1 << class FROM stretch WHERE next IS NULL OR next > e
  UNION ALL SELECT id, a, 1 << 14 FROM slow UNION ALL SELECT id, c, -1 << 14 FROM slow),
part AS (
  SELECT id, w AS ns, 15 AS class FROM slow
  UNION ALL SELECT id, u - t, CASE WHEN at & 1 THEN 0 WHEN at & 2 THEN 1 WHEN at & 4 THEN 2 WHEN at & 8 THEN 3 WHEN at & 16 THEN 4 WHEN at & 32 THEN 5 WHEN at & 64 THEN 6 WHEN at & 128 THEN 7
    WHEN at & 256 THEN 8 WHEN at & 512 THEN 9 WHEN at & 1024 THEN 10 WHEN at & 2048 THEN 11 WHEN at & 4096 THEN 12 WHEN at & 8192 THEN 13 ELSE 14 END AS class
  FROM (SELECT id, t, lead(t) OVER w AS u, sum(d) OVER w AS at FROM edge WINDOW w AS (PARTITION BY id ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) WHERE u > t),
what(class, what, meaning) AS (VALUES (0, 'queue', 'other requests were on the host link'), (1, 'host link', 'its own command and data on the link, and the controller'),
  (2, 'bus', 'its own data on a channel'), (3, 'flash', 'the cells worked for it'), (4, 'mapping', 'pages of the map, of checkpoints and backups that it read or wrote'), (5, 'pram', 'its transaction on the PRAM'),
  (6, 'chip: other requests', 'its plane worked for other requests, or other pieces of the same'), (7, 'chip: collection', 'its plane copied or erased for a collection, a folding or a scrub'), (8, 'chip: merge', 'its plane worked for a merge'),
  (9, 'chip: map', 'its plane worked for the map'), (10, 'chip: other', 'its plane worked for levelling, parity, recovery or backups'), (11, 'bus: others', 'its channel moved the data of others'),
  (12, 'collection', 'its plane was free; a collection or merge elsewhere went on'), (13, 'order', 'its plane was free; it waited for operations elsewhere that come before it'),
  (14, 'rest', 'no chip worked: controller, DRAM, pauses of the translation layer'), (15, 'submission queue', 'it waited in its queue of the host until the drive fetched it'), (16, 'not recorded', 'what the chips did: a log of level all has it'))
SELECT s.run, s.id, s.op, s.a - s.w AS ts_ns, s.c - s.a + s.w AS dur_ns, w.class, w.what, w.meaning, p.ns
FROM slow s JOIN (SELECT id, class, sum(ns) AS ns FROM part GROUP BY id, class) p USING(id) JOIN what w ON w.class = CASE WHEN p.class = 14 AND NOT s.has_ops THEN 16 ELSE p.class END WHERE p.ns > 0)";

inline constexpr std::string_view blame_request_sql = R"(
SELECT p.run, p.id, o.name AS op, p.ts_ns, p.dur_ns,
  sum(ns * (class = 0)) AS queue_ns, sum(ns * (class = 1)) AS host_link_ns, sum(ns * (class = 2)) AS bus_ns, sum(ns * (class = 3)) AS flash_ns, sum(ns * (class = 4)) AS mapping_ns,
  sum(ns * (class = 5)) AS pram_ns, sum(ns * (class = 6)) AS chip_requests_ns, sum(ns * (class = 7)) AS chip_collection_ns, sum(ns * (class = 8)) AS chip_merge_ns, sum(ns * (class = 9)) AS chip_map_ns,
  sum(ns * (class = 10)) AS chip_other_ns, sum(ns * (class = 11)) AS bus_others_ns, sum(ns * (class = 12)) AS collection_ns, sum(ns * (class = 13)) AS order_ns, sum(ns * (class IN (14, 16))) AS rest_ns,
  sum(ns * (class = 15)) AS submission_queue_ns
FROM v_blame_part p JOIN host_op_name o USING(op) GROUP BY p.id)";

inline constexpr std::string_view blame_sql = R"(
SELECT run, what, requests, ns, round(ns * 1.0 / sum(ns) OVER (PARTITION BY run), 6) AS share, meaning
FROM (SELECT run, class, what, meaning, count(*) AS requests, sum(ns) AS ns FROM v_blame_part GROUP BY run, class) ORDER BY run DESC, ns DESC)";

/// What follows AS stands as the database keeps it: what makes a view say something else makes a new version.
constexpr std::array views{
    LogView{"v_run_span", "which rows are a run's: ids, numbers of rows of nand_op and pram_write, and for runs of before version 10 times", R"(
SELECT run, start_ns, first_id, lead(first_id, 1, 9223372036854775807) OVER w AS last_id,
  coalesce(first_op, -1) AS first_op, coalesce(min(first_op) OVER later, 9223372036854775807) AS last_op,
  coalesce(first_pram_write, -1) AS first_pram_write, coalesce(min(first_pram_write) OVER later, 9223372036854775807) AS last_pram_write,
  CASE WHEN first_op IS NULL THEN start_ns ELSE -9223372036854775807 END AS from_ns,
  CASE WHEN first_op IS NULL AND lead(first_op) OVER w IS NULL THEN lead(start_ns, 1, 9223372036854775807) OVER w ELSE 9223372036854775807 END AS to_ns
FROM run WINDOW w AS (ORDER BY run), later AS (ORDER BY run ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING))"},
    LogView{"v_run_totals", "the last sample of each run: its totals", R"(
SELECT s.* FROM sample s JOIN (SELECT run, max(sample) AS sample FROM sample GROUP BY run) USING(run, sample))"},
    LogView{"v_waf_by_cause", "write amplification over all runs, split by why a page was programmed; the rows add up to the whole", R"(
SELECT c.name AS cause, sum(n.page_programs) AS page_programs, sum(n.page_programs * r.page_bytes) AS programmed_bytes,
  round(sum(n.page_programs * r.page_bytes) * 1.0 / nullif((SELECT sum(host_write_bytes) FROM v_run_totals), 0), 4) AS waf
FROM v_run_totals t JOIN run r USING(run) JOIN sample_nand n USING(sample) JOIN cause_name c USING(cause)
GROUP BY n.cause ORDER BY n.cause)"},
    LogView{"v_waf",
            "write amplification in four parts that add up to it: of the host's pages, collections (and levelling, folding), merges, the drive's own "
            "(map, recovery, backup, parity); and what of the last is parity",
            R"(
SELECT round(sum(b) / h, 4) AS waf, round(sum(b * (cause = 'user')) / h, 4) AS waf_user, round(sum(b * (cause IN ('gc', 'wear', 'fold', 'scrub'))) / h, 4) AS waf_gc,
  round(sum(b * (cause = 'merge')) / h, 4) AS waf_merge, round(sum(b * (cause IN ('map', 'recovery', 'backup', 'parity'))) / h, 4) AS waf_map,
  round(sum(b * (cause = 'parity')) / h, 4) AS waf_parity
FROM (SELECT cause, programmed_bytes * 1.0 AS b, (SELECT nullif(sum(host_write_bytes), 0) FROM v_run_totals) AS h FROM v_waf_by_cause))"},
    LogView{"v_waf_over_time", "write amplification between two samples", R"(
SELECT run, ts_ns / 1e9 AS t_s, written AS host_write_bytes, programmed AS programmed_bytes, round(programmed * 1.0 / nullif(written, 0), 4) AS waf FROM (
  SELECT s.run, s.ts_ns, s.host_write_bytes - lag(s.host_write_bytes, 1, 0) OVER w AS written, p.bytes - lag(p.bytes, 1, 0) OVER w AS programmed
  FROM sample s JOIN (SELECT a.sample, coalesce(sum(n.page_programs * r.page_bytes), 0) AS bytes FROM sample a JOIN run r USING(run) LEFT JOIN sample_nand n USING(sample)
    GROUP BY a.sample) p USING(sample)
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
    LogView{"v_nand_ops", "operations of planes by kind and cause; one program may have several pages (level all)", R"(
SELECT o.name AS op, c.name AS cause, sum(n.cells_ns > 0) AS commands, sum(n.pages) AS pages, sum(n.dur_ns * (n.cells_ns > 0)) / 1e6 AS time_ms
FROM nand_op n JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) GROUP BY n.op, n.cause)"},
    LogView{"v_host_requests",
            "host requests by kind, with percentiles of the latency of those that succeeded (level requests); the pieces of a split one are one",
            R"(
SELECT o.name AS op, count(*) AS requests, sum(sectors) * 512 AS bytes, avg(CASE WHEN i <= n THEN dur_ns END) / 1e3 AS mean_us, max(CASE WHEN i <= (n + 1) / 2 THEN dur_ns END) / 1e3 AS p50_us,
  max(CASE WHEN i <= (n * 99 + 99) / 100 THEN dur_ns END) / 1e3 AS p99_us, max(CASE WHEN i <= n THEN dur_ns END) / 1e3 AS max_us, sum(failed) AS failed
FROM (SELECT op, dur_ns, sectors, failed, row_number() OVER (PARTITION BY op ORDER BY failed, dur_ns) AS i, sum(failed = 0) OVER (PARTITION BY op) AS n
  FROM (SELECT op, max(dur_ns + waited_ns) AS dur_ns, sum(sectors) AS sectors, max(failed) AS failed
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
    LogView{"v_blame_part", "what the slowest 0.1 % of the requests of a run waited for, request by request; adds up to their latency (level all)",
            blame_part_sql},
    LogView{"v_blame_request", "the same, one row a request", blame_request_sql},
    LogView{"v_blame", "the same, all of a run together: the shares of their latency", blame_sql},
    LogView{"v_request_ops", "what the flash did in the name of each request or collection, and how long (level all); with WHERE request = N", R"(
SELECT n.parent AS request, o.name AS op, c.name AS cause, k.name AS page_kind, sum(n.cells_ns > 0) AS commands, sum(n.pages) AS pages, min(n.ts_ns) AS first_ts_ns,
  max(n.ts_ns + n.dur_ns) AS last_end_ns, sum(n.dur_ns * (n.cells_ns > 0)) AS ns
FROM nand_op n JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) JOIN page_kind_name k USING(page_kind) GROUP BY n.parent, n.op, n.cause, n.page_kind)"},
    LogView{"v_collections", "each collection or merge, and the host's request that was being served when it began; NULL: none was (level all)", R"(
SELECT j.id, c.name AS cause, j.ts_ns, j.dur_ns, j.group_no, j.victim_block, j.valid_pages,
  (SELECT h.id FROM host_request h WHERE h.id = (SELECT max(id) FROM host_request WHERE id < j.id) AND j.ts_ns BETWEEN h.ts_ns AND h.ts_ns + h.dur_ns) AS request
FROM gc_job j JOIN cause_name c USING(cause))"},
    LogView{"v_waf_by_cause_over_time", "write amplification between two samples, split by cause", R"(
SELECT run, t_s, name AS cause, programmed_bytes, host_write_bytes, round(programmed_bytes * 1.0 / nullif(host_write_bytes, 0), 4) AS waf
FROM (SELECT s.run, s.sample, s.ts_ns / 1e9 AS t_s, n.cause, (n.page_programs - lag(n.page_programs, 1, 0) OVER w) * r.page_bytes AS programmed_bytes, s.written AS host_write_bytes
  FROM (SELECT *, host_write_bytes - lag(host_write_bytes, 1, 0) OVER (PARTITION BY run ORDER BY sample) AS written FROM sample) s JOIN run r USING(run) JOIN sample_nand n USING(sample)
  WINDOW w AS (PARTITION BY s.run, n.cause ORDER BY s.sample)) JOIN cause_name USING(cause) ORDER BY run, sample, cause)"},
    LogView{"v_request_pct",
            "latency percentiles of the host's requests by run and kind (level requests); the pieces of a split one are one; without failed ones", R"(
SELECT run, o.name AS op, max(n) AS requests, round(avg(ns) / 1e3, 3) AS mean_us, max(CASE WHEN i <= (n + 1) / 2 THEN ns END) / 1e3 AS p50_us,
  max(CASE WHEN i <= (n * 95 + 99) / 100 THEN ns END) / 1e3 AS p95_us, max(CASE WHEN i <= (n * 99 + 99) / 100 THEN ns END) / 1e3 AS p99_us,
  max(CASE WHEN i <= (n * 999 + 999) / 1000 THEN ns END) / 1e3 AS p999_us, max(CASE WHEN i <= (n * 9999 + 9999) / 10000 THEN ns END) / 1e3 AS p9999_us, max(ns) / 1e3 AS max_us
FROM (SELECT run, op, ns, row_number() OVER (PARTITION BY run, op ORDER BY ns) AS i, count(*) OVER (PARTITION BY run, op) AS n
  FROM (SELECT run, op, max(dur_ns + waited_ns) AS ns FROM (SELECT *, sum(piece = 0 OR (piece = 1 AND before <> 1)) OVER (ORDER BY id) AS whole
    FROM (SELECT r.run, h.*, lag(h.piece, 1, 0) OVER (ORDER BY h.id) AS before FROM v_run_span r
      CROSS JOIN host_request h ON h.id > r.first_id AND h.id <= r.last_id)) GROUP BY run, whole HAVING max(failed) = 0))
  JOIN host_op_name o USING(op) GROUP BY run, op)"},
    LogView{"v_nand_phases", "where the time of a plane's operations goes, runs apart: on the bus, in the cells, and between (level all)", R"(
SELECT o.name AS op, c.name AS cause, sum(cells_ns > 0) AS operations, round(sum(bus_in_ns) / 1e3 / sum(cells_ns > 0), 3) AS bus_in_us,
  round((sum((cells_ns > 0) * (cells_at_ns - bus_in_at_ns)) - sum(bus_in_ns)) / 1e3 / sum(cells_ns > 0), 3) AS wait_for_cells_us, round(sum(cells_ns) / 1e3 / sum(cells_ns > 0), 3) AS cells_us, round(sum(CASE WHEN bus_out_ns > 0 THEN bus_out_at_ns - cells_at_ns - cells_ns ELSE 0 END) / 1e3 / sum(cells_ns > 0), 3) AS wait_for_bus_us,
  round(sum(bus_out_ns) / 1e3 / sum(cells_ns > 0), 3) AS bus_out_us, round(max(dur_ns) / 1e3, 3) AS longest_us
FROM nand_op JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) WHERE pages = 1 GROUP BY op, cause)"},
    LogView{"v_recorded", "from when to when a run has the rows of a level: set log= begins and ends them, --log-keep takes the oldest", R"(
SELECT s.run, n.name AS level, max(s.begin_ns, CASE WHEN s.rows_dropped = 0 THEN s.begin_ns
    WHEN s.level = 3 THEN ifnull((SELECT ts_ns FROM nand_op WHERE n > s.first_op AND n <= s.last_op ORDER BY n LIMIT 1), s.end_ns)
    ELSE ifnull((SELECT ts_ns FROM host_request WHERE id > s.first_id AND id <= s.last_id ORDER BY id LIMIT 1), s.end_ns) END) AS begin_ns, s.end_ns
FROM (SELECT r.run, r.level, r.rows_dropped, v.first_op, v.last_op, v.first_id, v.last_id, max(r.ts_ns, v.start_ns) AS begin_ns,
    min(ifnull(r.next_ns, t.ts_ns), t.ts_ns) AS end_ns
  FROM (SELECT run, level, rows_dropped, ts_ns, lead(ts_ns) OVER (PARTITION BY run ORDER BY n) AS next_ns
    FROM (SELECT run, n, ts_ns, level FROM logged UNION ALL SELECT run, 0, start_ns, 3 FROM run WHERE run NOT IN (SELECT run FROM logged)) JOIN run USING(run)) r
  JOIN v_run_span v USING(run) JOIN v_run_totals t USING(run)) s JOIN event_level_name n USING(level) WHERE s.end_ns > s.begin_ns ORDER BY s.run DESC, begin_ns)"},
    LogView{"v_plane_util",
            "how busy each plane was while that was logged, run by run (level all); with independent planes the cells are the chips' limit",
            R"(
SELECT r.run, n.channel, n.chip, n.die, n.plane, sum(CASE WHEN n.pages = 1 THEN n.cells_ns ELSE n.dur_ns END) AS cells_ns,
  round(sum(CASE WHEN n.pages = 1 THEN n.cells_ns ELSE n.dur_ns END) * 1.0 / nullif(max(t.ns), 0), 6) AS utilisation
FROM v_run_span r CROSS JOIN nand_op n ON n.n > r.first_op AND n.n <= r.last_op AND n.ts_ns >= r.from_ns AND n.ts_ns < r.to_ns
JOIN (SELECT run, sum(end_ns - begin_ns) AS ns FROM v_recorded WHERE level = 'all' GROUP BY run) t ON t.run = r.run
GROUP BY r.run, n.plane ORDER BY r.run DESC, n.plane)"},
    LogView{"v_channel_over_time", "how busy each channel's bus was between two samples", R"(
SELECT s.run, s.ts_ns / 1e9 AS t_s, c.channel, round((c.busy_ns - lag(c.busy_ns, 1, 0) OVER w) * 1.0 / nullif(s.ts_ns - lag(s.ts_ns, 1, r.start_ns) OVER w, 0), 6) AS utilisation
FROM sample s JOIN run r USING(run) JOIN sample_channel c USING(sample) WINDOW w AS (PARTITION BY s.run, c.channel ORDER BY s.sample) ORDER BY s.run, s.sample, c.channel)"},
    LogView{"v_gc_efficiency", "what collections copied for each page that they freed, run by run; below 1 is cheap (level all)", R"(
SELECT run, name AS cause, count(*) AS jobs, sum(valid_pages) AS pages_copied, sum(max(coalesce(nullif(victim_pages, 0), pages_per_block) - valid_pages, 0)) AS pages_freed,
  round(sum(valid_pages) * 1.0 / nullif(sum(max(coalesce(nullif(victim_pages, 0), pages_per_block) - valid_pages, 0)), 0), 4) AS copied_per_freed, sum(valid_pages = 0) AS empty_victims, max(valid_pages) AS fullest_victim
FROM (SELECT run, first_id, last_id,
    CAST(substr(config_toml, instr(config_toml, char(10) || 'pages_per_block = ') + 19) AS INTEGER) AS pages_per_block FROM run JOIN v_run_span USING(run, first_id)) r
  CROSS JOIN gc_job j ON j.id > r.first_id AND j.id <= r.last_id JOIN cause_name USING(cause) GROUP BY run, cause)"},
    LogView{"v_merge_kinds", "merges by kind, run by run: switch copies nothing, partial the rest of one block, full everything", R"(
SELECT t.run, s.switch_merges, s.partial_merges, s.full_merges, s.gc_jobs, s.gc_page_copies,
  round(s.full_merges * 1.0 / nullif(s.switch_merges + s.partial_merges + s.full_merges, 0), 4) AS share_full
FROM v_run_totals t JOIN sample_scheme s USING(sample) ORDER BY t.run DESC)"},
    LogView{"v_hit_ratios", "hits and misses of the drive's caches, run by run", R"(
SELECT run, cache, hits, misses, round(hits * 1.0 / (hits + misses), 4) AS hit_ratio FROM (
  SELECT t.run, 'write buffer, reads' AS cache, buffer_read_hits AS hits, buffer_read_misses AS misses FROM v_run_totals t JOIN sample_scheme USING(sample)
  UNION ALL SELECT t.run, 'write buffer, writes', buffer_write_hits, buffer_write_misses FROM v_run_totals t JOIN sample_scheme USING(sample)
  UNION ALL SELECT t.run, 'maps, reads', map_read_hits, map_read_misses FROM v_run_totals t JOIN sample_scheme USING(sample)
  UNION ALL SELECT t.run, 'maps, writes', map_write_hits, map_write_misses FROM v_run_totals t JOIN sample_scheme USING(sample))
WHERE hits + misses > 0 ORDER BY run DESC, cache)"},
    LogView{"v_unmapped_reads", "pages that were read and hold nothing, run by run: they cost no flash read, so many of them flatter the latencies",
            R"(
SELECT t.run, s.read_pages, s.unmapped_reads, round(s.unmapped_reads * 1.0 / nullif(s.read_pages, 0), 4) AS share
FROM v_run_totals t JOIN sample_scheme s USING(sample) ORDER BY t.run DESC)"},
    LogView{"v_counters", "what the translation layer counts besides what all do, run by run", R"(
SELECT t.run, s.name, s.value, c.unit, c.meaning FROM v_run_totals t JOIN sample_counter s USING(sample) JOIN counter c ON c.run = t.run AND c.name = s.name
ORDER BY t.run DESC, s.name)"},
    LogView{"v_blocks", "blocks by use, with their pages: valid, invalid, free; at the end of each run", R"(
SELECT b.run, u.name AS use, count(*) AS blocks, sum(b.valid_pages) AS valid_pages, sum(max(b.written_pages - b.valid_pages, 0)) AS invalid_pages,
  sum((b.use <> 5) * max(coalesce(nullif(b.pages, 0), p.pages_per_block) - b.written_pages, 0)) AS free_pages, min(b.erase_count) AS least_erases, max(b.erase_count) AS most_erases
FROM block b JOIN block_use_name u USING(use) JOIN (SELECT run, CAST(substr(config_toml, instr(config_toml, char(10) || 'pages_per_block = ') + 19) AS INTEGER) AS pages_per_block FROM run) p USING(run)
GROUP BY b.run, b.use ORDER BY b.run DESC, b.use)"},
    LogView{"v_recovery_steps", "what a recovery read and wrote on the flash, by kind of page (level all)", R"(
SELECT r.run, o.name AS op, k.name AS page_kind, sum(n.cells_ns > 0) AS commands, sum(n.pages) AS pages, min(n.ts_ns) - max(r.start_ns) AS first_after_ns, sum(n.dur_ns * (n.cells_ns > 0)) / 1e6 AS time_ms
FROM v_run_span r CROSS JOIN nand_op n ON n.n > r.first_op AND n.n <= r.last_op AND n.ts_ns >= r.from_ns AND n.ts_ns < r.to_ns
JOIN nand_op_name o USING(op) JOIN page_kind_name k USING(page_kind) WHERE n.cause = 5 GROUP BY r.run, n.op, n.page_kind)"},
    LogView{"v_unreadable", "data that the flash did not give back: where, how often it was asked for, whose it is", R"(
SELECT u.run, min(u.ts_ns) / 1e9 AS first_t_s, o.name AS op, u.bad_sector, count(*) AS requests, f.path, f.ino, f.offset_bytes, f.bytes
FROM uncorrectable_read u JOIN host_op_name o USING(op) LEFT JOIN unreadable_file f USING(request)
GROUP BY u.run, u.op, u.bad_sector, f.ino, f.offset_bytes ORDER BY u.run, first_t_s)"},
    LogView{"v_queues",
            "the host's submission queues, run by run: how long requests waited to be fetched, and their whole latency, without failed ones (level "
            "requests)",
            R"(
SELECT run, queue, max(n) AS requests, sum(sectors) * 512 AS bytes, round(avg(waited_ns) / 1e3, 3) AS mean_waited_us, max(waited_ns) / 1e3 AS max_waited_us, round(avg(ns) / 1e3, 3) AS mean_us,
  max(CASE WHEN i <= (n + 1) / 2 THEN ns END) / 1e3 AS p50_us, max(CASE WHEN i <= (n * 99 + 99) / 100 THEN ns END) / 1e3 AS p99_us, max(ns) / 1e3 AS max_us
FROM (SELECT *, row_number() OVER (PARTITION BY run, queue ORDER BY ns) AS i, count(*) OVER (PARTITION BY run, queue) AS n
  FROM (SELECT run, queue, sum(sectors) AS sectors, max(waited_ns) AS waited_ns, max(dur_ns + waited_ns) AS ns
    FROM (SELECT *, sum(piece = 0 OR (piece = 1 AND before <> 1)) OVER (ORDER BY id) AS whole
      FROM (SELECT r.run, h.*, lag(h.piece, 1, 0) OVER (ORDER BY h.id) AS before FROM v_run_span r
        CROSS JOIN host_request h ON h.id > r.first_id AND h.id <= r.last_id)) GROUP BY run, whole HAVING max(failed) = 0))
GROUP BY run, queue ORDER BY run DESC, queue)"}};

} // namespace

std::span<const LogView> event_log_view_list() { return views; }

std::string event_log_views() {
    std::string out;
    for (const LogView& view : views)
        out += fmt::format("{}-- {}\nCREATE VIEW {} AS{};\n", out.empty() ? "" : "\n", view.about, view.name, view.select);
    return out;
}

namespace {

/// For a log of before these tables, of which it is as if they had no rows.
std::string empty_view_sql(const TableDescription& table) {
    std::string columns;
    for (const ColumnDescription& c : table.columns) columns += fmt::format("{}NULL AS {}", columns.empty() ? "" : ", ", c.text.name);
    return fmt::format("CREATE TEMP VIEW {} AS SELECT {} WHERE 0;\n", table.text.name, columns);
}

std::string name_view_sql(const NameTable& table) {
    std::string rows;
    for (std::size_t i = 0; i < table.names.size(); ++i)
        rows += rows.empty() ? fmt::format("SELECT 0 AS {}, '{}' AS name", table.column, table.names[0])
                             : fmt::format(" UNION ALL SELECT {}, '{}'", i, table.names[i]);
    return fmt::format("CREATE TEMP VIEW {} AS {};\n", table.table, rows);
}

} // namespace

std::string event_log_temporary_views(std::int64_t version) {
    std::string out;
    if (version < run_spans_since) out = "CREATE TEMP VIEW run AS SELECT *, NULL AS first_op, NULL AS first_pram_write FROM main.run;\n";
    if (version < unmapped_reads_since && version >= sample_scheme_table.text.since)
        out += "CREATE TEMP VIEW sample_scheme AS SELECT *, NULL AS read_pages, NULL AS unmapped_reads FROM main.sample_scheme;\n";
    if (version < streams_since)
        out += fmt::format("CREATE TEMP VIEW host_request AS SELECT *{}{}, 0 AS stream FROM main.host_request;\n",
                           version < pieces_since ? ", 0 AS piece" : "", version < queues_since ? ", 0 AS queue, 0 AS waited_ns" : "");
    if (version < block_pages_since) out += "CREATE TEMP VIEW gc_job AS SELECT *, 0 AS victim_pages FROM main.gc_job;\n";
    if (version < block_pages_since && version >= block_table.text.since) out += "CREATE TEMP VIEW block AS SELECT *, 0 AS pages FROM main.block;\n";
    const bool is_log = version >= oldest_log_version; // else results of a sweep, say, with tables of their own
    for (const TableDescription& table : event_log_descriptions())
        if (is_log && version < table.text.since) out += empty_view_sql(table);
    for (const NameTable& table : event_log_name_tables())
        if (is_log && version < table.since) out += name_view_sql(table);
    for (const LogView& view : views) out += fmt::format("CREATE TEMP VIEW {} AS{};\n", view.name, view.select);
    return out;
}

} // namespace flashlab
