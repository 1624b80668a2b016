/// The views of the event log that say what slow requests waited for.
///
/// Idea       The time of a request is cut where something begins or ends that concerns it. Each piece goes to the first in a list of what went on
///            then: its own transfer, its own cells, its map, its PRAM, then what others did on its planes and channels, then what the flash did
///            anywhere. Equal steps of time lead from a request to the operations beside it. A step is eight times the mean operation: one that
///            waited long in a queue must not widen it.
/// Invariant  The pieces of a request add up to its latency, to the nanosecond, whatever the log lacks. `rest` is what nothing recorded explains.
/// Cost       Grows as the log: four passes over nand_op, and a few microseconds for each operation beside a slow request. No index is needed: the
///            few requests have one of their own.
#pragma once

#include <string_view>

namespace flashlab {

inline constexpr std::string_view blame_part_sql = R"(
WITH RECURSIVE span AS MATERIALIZED (
  SELECT run, first_id, last_id, v.first_op, v.last_op,
    coalesce((SELECT CAST(substr(config_toml, k + 23) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'request_overhead_ns = ') AS k) WHERE k > 0), 0) AS overhead_ns,
    coalesce((SELECT CAST(substr(config_toml, k + 15) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'ps_per_byte = ') AS k) WHERE k > 0), 0) AS ps_per_byte,
    coalesce((SELECT CAST(substr(config_toml, k + 25) AS INTEGER) FROM (SELECT instr(config_toml, char(10) || 'controller_request_ns = ') AS k) WHERE k > 0), 0) AS controller_ns,
    instr(config_toml, char(10) || 'independent_planes = 0') > 0 AS by_die
  FROM run JOIN v_run_span v USING(run, first_id)),
slow AS MATERIALIZED (
  SELECT r.run, r.first_id, r.first_op, r.last_op, r.by_die, r.overhead_ns, r.ps_per_byte, h.id, h.op, h.ts_ns AS a, h.ts_ns + h.dur_ns AS c,
    r.overhead_ns + (h.op = 1) * ((h.sectors * 512 * r.ps_per_byte + 999) / 1000) AS link_in, r.controller_ns,
    (h.op = 0 AND h.failed = 0) * ((h.sectors * 512 * r.ps_per_byte + 999) / 1000) AS link_out
  FROM (SELECT s.run, h.id, row_number() OVER (PARTITION BY s.run ORDER BY h.dur_ns DESC, h.id) AS place, count(*) OVER (PARTITION BY s.run) AS n
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
    FROM (SELECT run, b, e, CASE WHEN cause IN (1, 2, 4) THEN 12 ELSE 13 END AS class FROM busy)
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
  UNION ALL SELECT id, ts_ns, end_ns, CASE WHEN cause = 0 THEN 3 WHEN cause IN (1, 2, 4) THEN 12 ELSE 4 END FROM own
  UNION ALL SELECT s.id, p.ts_ns, p.ts_ns + p.dur_ns, 5 FROM pram_write p CROSS JOIN slow s ON s.id = p.parent
  UNION ALL SELECT w.id, o.b, o.e, CASE o.cause WHEN 0 THEN 6 WHEN 1 THEN 7 WHEN 2 THEN 8 WHEN 3 THEN 9 ELSE 10 END
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
  SELECT id, u - t AS ns, CASE WHEN at & 1 THEN 0 WHEN at & 2 THEN 1 WHEN at & 4 THEN 2 WHEN at & 8 THEN 3 WHEN at & 16 THEN 4 WHEN at & 32 THEN 5 WHEN at & 64 THEN 6 WHEN at & 128 THEN 7
    WHEN at & 256 THEN 8 WHEN at & 512 THEN 9 WHEN at & 1024 THEN 10 WHEN at & 2048 THEN 11 WHEN at & 4096 THEN 12 WHEN at & 8192 THEN 13 ELSE 14 END AS class
  FROM (SELECT id, t, lead(t) OVER w AS u, sum(d) OVER w AS at FROM edge WINDOW w AS (PARTITION BY id ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) WHERE u > t),
what(class, what, meaning) AS (VALUES (0, 'queue', 'other requests were on the host link'), (1, 'host link', 'its own command and data on the link, and the controller'),
  (2, 'bus', 'its own data on a channel'), (3, 'flash', 'the cells worked for it'), (4, 'mapping', 'pages of the map, of checkpoints and backups that it read or wrote'), (5, 'pram', 'its transaction on the PRAM'),
  (6, 'chip: other requests', 'its plane worked for other requests'), (7, 'chip: collection', 'its plane copied or erased for a collection'), (8, 'chip: merge', 'its plane worked for a merge'),
  (9, 'chip: map', 'its plane worked for the map'), (10, 'chip: other', 'its plane worked for levelling, recovery or backups'), (11, 'bus: others', 'its channel moved the data of others'),
  (12, 'collection', 'its plane was free; a collection or merge elsewhere went on'), (13, 'order', 'its plane was free; it waited for operations elsewhere that come before it'),
  (14, 'rest', 'no chip worked: controller, DRAM, pauses of the translation layer'))
SELECT s.run, s.id, s.op, s.a AS ts_ns, s.c - s.a AS dur_ns, w.class, w.what, w.meaning, p.ns
FROM slow s JOIN (SELECT id, class, sum(ns) AS ns FROM part GROUP BY id, class) p USING(id) JOIN what w USING(class) WHERE p.ns > 0)";

inline constexpr std::string_view blame_request_sql = R"(
SELECT p.run, p.id, o.name AS op, p.ts_ns, p.dur_ns,
  sum(ns * (class = 0)) AS queue_ns, sum(ns * (class = 1)) AS host_link_ns, sum(ns * (class = 2)) AS bus_ns, sum(ns * (class = 3)) AS flash_ns, sum(ns * (class = 4)) AS mapping_ns,
  sum(ns * (class = 5)) AS pram_ns, sum(ns * (class = 6)) AS chip_requests_ns, sum(ns * (class = 7)) AS chip_collection_ns, sum(ns * (class = 8)) AS chip_merge_ns, sum(ns * (class = 9)) AS chip_map_ns,
  sum(ns * (class = 10)) AS chip_other_ns, sum(ns * (class = 11)) AS bus_others_ns, sum(ns * (class = 12)) AS collection_ns, sum(ns * (class = 13)) AS order_ns, sum(ns * (class = 14)) AS rest_ns
FROM v_blame_part p JOIN host_op_name o USING(op) GROUP BY p.id)";

inline constexpr std::string_view blame_sql = R"(
SELECT run, what, requests, ns, round(ns * 1.0 / sum(ns) OVER (PARTITION BY run), 6) AS share, meaning
FROM (SELECT run, class, what, meaning, count(*) AS requests, sum(ns) AS ns FROM v_blame_part GROUP BY run, class) ORDER BY run DESC, ns DESC)";

} // namespace flashlab
