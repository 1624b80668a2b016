#include "tools/log/event_log_schema.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "base/events.h"

namespace flashlab {
namespace {

constexpr std::array<std::string_view, 4> host_ops{"read", "write", "trim", "flush"};
constexpr std::array<std::string_view, 3> nand_ops{"read", "program", "erase"};
constexpr std::array<std::string_view, cause_count> causes{"user", "gc", "merge", "map", "wear", "recovery", "backup"};
constexpr std::array<std::string_view, 8> page_kinds{"unknown", "data", "translation", "checkpoint", "journal", "summary", "backup", "padding"};
constexpr std::array<std::string_view, 2> pram_users{"ftl", "fs"};
constexpr std::array<std::string_view, 4> power_kinds{"mount", "clean_unmount", "cut", "recovery"};
constexpr std::array<std::string_view, fs_op_count> fs_ops{
    "lookup", "getattr", "setattr", "readlink", "mknod", "mkdir", "symlink", "unlink", "rmdir", "rename", "link",
    "create", "open", "read", "write", "flush", "release", "fsync", "opendir", "readdir", "releasedir", "fsyncdir",
    "statfs", "getxattr", "setxattr", "listxattr", "removexattr", "fallocate", "lseek", "copy_file_range", "ioctl", "writeback", "forget"};

std::string enum_rows(std::string_view table, std::span<const std::string_view> names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        out += fmt::format("INSERT INTO {} VALUES({},'{}');\n", table, i, names[i]);
    return out;
}

/// The last tables: what version 6 added stands there.
std::string_view since_version_6(std::string_view text) { return text.substr(text.find("-- since version 6")); }

} // namespace

std::string_view name_of_fs_op(std::uint8_t op) { return op < fs_ops.size() ? fs_ops[op] : "?"; }
std::string_view name_of_cause(std::uint8_t cause) { return cause < causes.size() ? causes[cause] : "?"; }

std::string event_log_enums() {
    return enum_rows("host_op_name", host_ops) + enum_rows("nand_op_name", nand_ops) + enum_rows("cause_name", causes) + enum_rows("fs_op_name", fs_ops) +
           enum_rows("page_kind_name", page_kinds) + enum_rows("pram_user_name", pram_users) + enum_rows("power_kind_name", power_kinds);
}

std::string event_log_upgrade(std::int64_t version) {
    std::string out;
    if (version < 4)
        out = fmt::format("CREATE TABLE page_kind_name(page_kind INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n{}"
                          "ALTER TABLE nand_op ADD COLUMN page_kind INTEGER NOT NULL DEFAULT 0;\nALTER TABLE nand_op ADD COLUMN own_page INTEGER;\n",
                          enum_rows("page_kind_name", page_kinds));
    if (version < 5)
        out += "ALTER TABLE host_request ADD COLUMN piece INTEGER NOT NULL DEFAULT 0;\n";
    return out + std::string{since_version_6(event_log_tables())};
}

std::string_view event_log_tables() {
    return R"(-- Times are simulated nanoseconds since the device was made. Ids are unique in the file; a parent is the id of a host_request, fs_op or gc_job.

-- names of the small numbers used below
CREATE TABLE host_op_name(op INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE nand_op_name(op INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE cause_name(cause INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE fs_op_name(op INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE page_kind_name(page_kind INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE pram_user_name(user INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE power_kind_name(kind INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;

-- one mount, or one run in virtual time; its ids are greater than first_id, up to the next run's
CREATE TABLE run(
  run INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,               -- mount, bench ...
  version TEXT NOT NULL,            -- of flashlab
  config_toml TEXT NOT NULL,        -- the effective configuration
  config_hash TEXT NOT NULL,
  seed INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,        -- the device's clock at the beginning
  page_bytes INTEGER NOT NULL,      -- of a NAND page
  rows_dropped INTEGER NOT NULL     -- oldest rows deleted since, to keep within --log-keep
) STRICT;

-- level requests: a request at the device's link
CREATE TABLE host_request(
  id INTEGER PRIMARY KEY,
  ts_ns INTEGER NOT NULL,           -- arrival
  dur_ns INTEGER NOT NULL,          -- until the answer
  op INTEGER NOT NULL REFERENCES host_op_name,
  first_sector INTEGER NOT NULL,    -- of 512 bytes
  sectors INTEGER NOT NULL,
  fua INTEGER NOT NULL,             -- 1: durable when answered
  failed INTEGER NOT NULL,
  piece INTEGER NOT NULL            -- of a trace's request that --compact or --wrap splits: 1, 2 ...; 0: a request as it came
) STRICT;

-- level requests: a call of an application
CREATE TABLE fs_op(
  id INTEGER PRIMARY KEY,
  ts_ns INTEGER NOT NULL,           -- the call
  dur_ns INTEGER NOT NULL,          -- until its answer
  op INTEGER NOT NULL REFERENCES fs_op_name,
  ino INTEGER NOT NULL,             -- the inode, as stat shows it
  offset_bytes INTEGER NOT NULL,    -- in the file
  bytes INTEGER NOT NULL,           -- asked for
  error INTEGER NOT NULL            -- errno, 0: done
) STRICT;

-- level all: what a chip did; a run of pages is one row
CREATE TABLE nand_op(
  n INTEGER PRIMARY KEY,
  ts_ns INTEGER NOT NULL,
  dur_ns INTEGER NOT NULL,
  op INTEGER NOT NULL REFERENCES nand_op_name,
  cause INTEGER NOT NULL REFERENCES cause_name,
  parent INTEGER,                   -- NULL: nobody asked
  channel INTEGER NOT NULL,
  chip INTEGER NOT NULL,
  die INTEGER NOT NULL,
  plane INTEGER NOT NULL,
  block INTEGER NOT NULL,           -- numbered over the whole device, as chip, die and plane
  page INTEGER NOT NULL,            -- within the block
  pages INTEGER NOT NULL,
  lpn INTEGER,                      -- logical page, if it holds data of one
  bus_in_at_ns INTEGER NOT NULL,    -- phases, from ts_ns on: command, and data of a program, on the bus
  bus_in_ns INTEGER NOT NULL,
  cells_at_ns INTEGER NOT NULL,     -- the cells sense, program or erase
  cells_ns INTEGER NOT NULL,
  bus_out_at_ns INTEGER NOT NULL,   -- data of a read on the bus; 0 long: none
  bus_out_ns INTEGER NOT NULL,
  page_kind INTEGER NOT NULL REFERENCES page_kind_name, -- what the page holds: data, or what the translation layer writes for itself; of an erase unknown
  own_page INTEGER                  -- number of a page that is not data, among those of its kind
) STRICT;

-- level all: the collection of one victim block, or the merge of a logical block; parent of its copies and its erases
CREATE TABLE gc_job(
  id INTEGER PRIMARY KEY,
  ts_ns INTEGER NOT NULL,
  dur_ns INTEGER NOT NULL,
  cause INTEGER NOT NULL REFERENCES cause_name,
  group_no INTEGER NOT NULL,
  victim_block INTEGER NOT NULL,
  valid_pages INTEGER NOT NULL
) STRICT;

-- level all: a committed transaction on the PRAM
CREATE TABLE pram_write(
  n INTEGER PRIMARY KEY,
  ts_ns INTEGER NOT NULL,
  dur_ns INTEGER NOT NULL,
  user INTEGER NOT NULL REFERENCES pram_user_name,
  parent INTEGER,
  log_words INTEGER NOT NULL,       -- written to the redo log
  home_words INTEGER NOT NULL,      -- written in place, after the diff
  compared_words INTEGER NOT NULL   -- handed to the diff
) STRICT;

-- level summary: mounts, cuts, recoveries
CREATE TABLE power(
  n INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  ts_ns INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES power_kind_name,
  recovery_ns INTEGER NOT NULL,     -- the drive's and the file system's; 0 but for a recovery
  pages_scanned INTEGER NOT NULL,   -- spare areas that the recovery read
  operations_torn INTEGER NOT NULL, -- programs and erases that the cut interrupted
  operations_undone INTEGER NOT NULL, -- NAND operations that were due after the cut
  words_torn INTEGER NOT NULL,      -- of the PRAM
  words_undone INTEGER NOT NULL
) STRICT;

-- level summary: the device's counters since the run began, once a second and at its end
CREATE TABLE sample(
  sample INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  ts_ns INTEGER NOT NULL,
  host_reads INTEGER NOT NULL,
  host_writes INTEGER NOT NULL,
  host_trims INTEGER NOT NULL,
  host_flushes INTEGER NOT NULL,
  host_read_bytes INTEGER NOT NULL,
  host_write_bytes INTEGER NOT NULL,
  pram_words_written INTEGER NOT NULL,
  free_blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE sample_nand(
  sample INTEGER NOT NULL REFERENCES sample,
  cause INTEGER NOT NULL REFERENCES cause_name,
  page_reads INTEGER NOT NULL,
  page_programs INTEGER NOT NULL,
  block_erases INTEGER NOT NULL,
  PRIMARY KEY(sample, cause)
) STRICT, WITHOUT ROWID;
CREATE TABLE sample_channel(
  sample INTEGER NOT NULL REFERENCES sample,
  channel INTEGER NOT NULL,
  busy_ns INTEGER NOT NULL,         -- of its bus, since the run began
  PRIMARY KEY(sample, channel)
) STRICT, WITHOUT ROWID;

-- level summary: latency since the run began, from streaming histograms
CREATE TABLE fs_latency(
  sample INTEGER NOT NULL REFERENCES sample,
  op INTEGER NOT NULL REFERENCES fs_op_name,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  p50_ns INTEGER NOT NULL,
  p99_ns INTEGER NOT NULL,
  max_ns INTEGER NOT NULL,
  PRIMARY KEY(sample, op)
) STRICT, WITHOUT ROWID;

-- level summary: decisions on the drive's DRAM, where dram.partition is adaptive: the richer ghost's side grows
CREATE TABLE partition_decision(
  n INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  ts_ns INTEGER NOT NULL,           -- after which request it was taken
  buffer_benefit REAL NOT NULL,     -- ns that a byte more of write buffer would have saved since the last decision
  map_benefit REAL NOT NULL,        -- the same of the maps
  buffer_ghost_reads INTEGER NOT NULL, -- pages read that a larger buffer would have held
  buffer_ghost_writes INTEGER NOT NULL, -- pages written that it would have held
  map_ghost_reads INTEGER NOT NULL, -- mapping entries read that larger maps would have held
  map_ghost_writes INTEGER NOT NULL, -- mapping entries written that they would have held
  buffer_ghost_bytes INTEGER NOT NULL, -- of the data that the ghost buffer stands for
  map_ghost_bytes INTEGER NOT NULL, -- of the entries that the ghost mapping cache stands for
  map_bytes_before INTEGER NOT NULL, -- the share of the maps until now
  map_bytes INTEGER NOT NULL,       -- and from now on
  buffer_bytes INTEGER NOT NULL     -- of the write buffer from now on
) STRICT;

-- level summary: erase counts of the blocks at the end of a run
CREATE TABLE wear(
  run INTEGER NOT NULL REFERENCES run,
  erase_count INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  PRIMARY KEY(run, erase_count)
) STRICT, WITHOUT ROWID;

-- since version 6

-- level summary: a request that failed because the flash does not give back data that it needs
CREATE TABLE uncorrectable_read(
  request INTEGER PRIMARY KEY,      -- id of the host_request
  run INTEGER NOT NULL REFERENCES run,
  ts_ns INTEGER NOT NULL,           -- the answer
  op INTEGER NOT NULL REFERENCES host_op_name, -- a write and a trim read the rest of a page
  first_sector INTEGER NOT NULL,    -- of the request
  sectors INTEGER NOT NULL,
  bad_sector INTEGER NOT NULL       -- of the request, the first in a page that does not read
) STRICT;

-- level summary: the place in a file that such a request was for, as far as the file system knows
CREATE TABLE unreadable_file(
  n INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  request INTEGER,                  -- of uncorrectable_read
  ino INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,    -- in the file
  bytes INTEGER NOT NULL,           -- so many could not be read
  path TEXT                         -- one name of the file; NULL: it has none any more, or a hundred were told in this mount
) STRICT;
)";
}

std::string_view event_log_views() {
    return R"(-- the last sample of each run: its totals
CREATE VIEW v_run_totals AS
SELECT s.* FROM sample s JOIN (SELECT run, max(sample) AS sample FROM sample GROUP BY run) USING(run, sample);

-- write amplification over all runs, split by why a page was programmed; the rows add up to the whole
CREATE VIEW v_waf_by_cause AS
SELECT c.name AS cause, sum(n.page_programs) AS page_programs, sum(n.page_programs * r.page_bytes) AS programmed_bytes,
  round(sum(n.page_programs * r.page_bytes) * 1.0 / nullif((SELECT sum(host_write_bytes) FROM v_run_totals), 0), 4) AS waf
FROM v_run_totals t JOIN run r USING(run) JOIN sample_nand n USING(sample) JOIN cause_name c USING(cause)
GROUP BY n.cause ORDER BY n.cause;

-- write amplification in four parts that add up to it: of the host's pages, collections (and levelling), merges, the drive's own (map, recovery, backup)
CREATE VIEW v_waf AS
SELECT round(sum(b) / h, 4) AS waf, round(sum(b * (cause = 'user')) / h, 4) AS waf_user, round(sum(b * (cause IN ('gc', 'wear'))) / h, 4) AS waf_gc,
  round(sum(b * (cause = 'merge')) / h, 4) AS waf_merge, round(sum(b * (cause IN ('map', 'recovery', 'backup'))) / h, 4) AS waf_map
FROM (SELECT cause, programmed_bytes * 1.0 AS b, (SELECT nullif(sum(host_write_bytes), 0) FROM v_run_totals) AS h FROM v_waf_by_cause);

-- write amplification between two samples
CREATE VIEW v_waf_over_time AS
SELECT run, ts_ns / 1e9 AS t_s, written AS host_write_bytes, programmed AS programmed_bytes, round(programmed * 1.0 / nullif(written, 0), 4) AS waf FROM (
  SELECT s.run, s.ts_ns, s.host_write_bytes - lag(s.host_write_bytes, 1, 0) OVER w AS written, p.bytes - lag(p.bytes, 1, 0) OVER w AS programmed
  FROM sample s JOIN (SELECT n.sample, sum(n.page_programs * r.page_bytes) AS bytes FROM sample_nand n JOIN sample USING(sample) JOIN run r USING(run)
    GROUP BY n.sample) p USING(sample)
  WINDOW w AS (PARTITION BY s.run ORDER BY s.sample));

-- latency of each file system operation, in the last run that had it
CREATE VIEW v_latency_pct AS
SELECT o.name AS op, l.calls, l.errors, l.p50_ns / 1e3 AS p50_us, l.p99_ns / 1e3 AS p99_us, l.max_ns / 1e3 AS max_us
FROM fs_latency l JOIN (SELECT op, max(sample) AS sample FROM fs_latency GROUP BY op) USING(op, sample) JOIN fs_op_name o USING(op)
ORDER BY l.calls DESC;

-- how busy the channels' buses were, busiest first, run by run
CREATE VIEW v_channel_util AS
SELECT t.run, c.channel, c.busy_ns, round(c.busy_ns * 1.0 / nullif(t.ts_ns - r.start_ns, 0), 6) AS utilisation
FROM v_run_totals t JOIN run r USING(run) JOIN sample_channel c USING(sample) ORDER BY t.run DESC, c.busy_ns DESC;

-- garbage collection: victims, pages copied, NAND time (level all)
CREATE VIEW v_gc_cost AS
SELECT c.name AS cause, count(*) AS jobs, sum(j.valid_pages) AS pages_copied, round(avg(j.valid_pages), 2) AS pages_a_victim, sum(j.dur_ns) / 1e6 AS time_ms
FROM gc_job j JOIN cause_name c USING(cause) GROUP BY j.cause;

-- blocks by erase count, at the end of the last run
CREATE VIEW v_wear_hist AS SELECT erase_count, blocks FROM wear WHERE run = (SELECT max(run) FROM wear) ORDER BY erase_count;

-- operations on the flash by kind and cause (level all)
CREATE VIEW v_nand_ops AS
SELECT o.name AS op, c.name AS cause, count(*) AS commands, sum(n.pages) AS pages, sum(n.dur_ns) / 1e6 AS time_ms
FROM nand_op n JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) GROUP BY n.op, n.cause;

-- host requests by kind, with percentiles of their latency (level requests); the pieces of a split one are one, answered with the last
CREATE VIEW v_host_requests AS
SELECT o.name AS op, max(n) AS requests, sum(sectors) * 512 AS bytes, avg(dur_ns) / 1e3 AS mean_us, max(CASE WHEN i <= (n + 1) / 2 THEN dur_ns END) / 1e3 AS p50_us,
  max(CASE WHEN i <= (n * 99 + 99) / 100 THEN dur_ns END) / 1e3 AS p99_us, max(dur_ns) / 1e3 AS max_us, sum(failed) AS failed
FROM (SELECT op, dur_ns, sectors, failed, row_number() OVER (PARTITION BY op ORDER BY dur_ns) AS i, count(*) OVER (PARTITION BY op) AS n
  FROM (SELECT op, max(dur_ns) AS dur_ns, sum(sectors) AS sectors, max(failed) AS failed
    FROM (SELECT *, sum(piece = 0 OR (piece = 1 AND before <> 1)) OVER (ORDER BY id) AS whole FROM (SELECT *, lag(piece, 1, 0) OVER (ORDER BY id) AS before FROM host_request))
    GROUP BY whole))
  JOIN host_op_name o USING(op) GROUP BY op;

-- PRAM words by user (level all): what the diff saved is compared - home
CREATE VIEW v_pram_words AS
SELECT u.name AS user, count(*) AS transactions, sum(p.log_words) AS log_words, sum(p.home_words) AS home_words, sum(p.compared_words) AS compared_words,
  round(avg(p.home_words), 2) AS home_words_a_transaction
FROM pram_write p JOIN pram_user_name u USING(user) GROUP BY p.user;

-- who got more of the DRAM, and why: the last decisions first
CREATE VIEW v_partition AS
SELECT run, ts_ns / 1e9 AS t_s, buffer_benefit, map_benefit, map_bytes - map_bytes_before AS to_map_bytes, map_bytes, buffer_bytes,
  buffer_ghost_reads + buffer_ghost_writes AS buffer_ghost_hits, map_ghost_reads + map_ghost_writes AS map_ghost_hits
FROM partition_decision ORDER BY n DESC;

-- mounts, cuts and recoveries in order
CREATE VIEW v_recovery AS
SELECT p.run, p.ts_ns / 1e9 AS t_s, k.name AS what, p.recovery_ns / 1e6 AS recovery_ms, p.pages_scanned, p.operations_torn, p.operations_undone,
  p.words_torn, p.words_undone
FROM power p JOIN power_kind_name k USING(kind) ORDER BY p.n;

-- data that the flash did not give back: where, how often it was asked for, whose it is
CREATE VIEW v_unreadable AS
SELECT u.run, min(u.ts_ns) / 1e9 AS first_t_s, o.name AS op, u.bad_sector, count(*) AS requests, f.path, f.ino, f.offset_bytes, f.bytes
FROM uncorrectable_read u JOIN host_op_name o USING(op) LEFT JOIN unreadable_file f USING(request)
GROUP BY u.run, u.op, u.bad_sector, f.ino, f.offset_bytes ORDER BY u.run, first_t_s;
)";
}

} // namespace flashlab
