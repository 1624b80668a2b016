"""Judges the views of the event log that blame: each part of each slow request is computed here anew, in the plainest way.

usage: blame_judge.py judge LOG...      compares v_blame_part, v_blame_request and v_blame of each log with what is computed here
       blame_judge.py growth LOG...     one operation that waited very long must not make the views slow
       blame_judge.py mutants LOG...    breaks the views in many ways, one after the other: each must be seen on some log

The plain way: the host link is a queue; time is cut wherever something begins or ends; each piece goes to the first class in the list of docs/report.md that
applies to it. No window functions, no buckets.
"""
import sqlite3
import sys

NAMES = ("queue", "host link", "bus", "flash", "mapping", "pram", "chip: other requests", "chip: collection", "chip: merge", "chip: map", "chip: other",
         "bus: others", "collection", "order", "rest", "submission queue")
COLUMNS = [name + "_ns" for name in ("queue", "host_link", "bus", "flash", "mapping", "pram", "chip_requests", "chip_collection", "chip_merge", "chip_map",
                                     "chip_other", "bus_others", "collection", "order", "rest", "submission_queue")]
COPIES = (1, 2, 4, 7, 8)  # causes: collection, merge, levelling, folding, scrub
DATA = (0, 9)  # its own and their parity
LINE = 512  # requests before a slow one that the views look at


def setting(config, key):
    for line in config.splitlines():
        if line.startswith(key + " = "):
            return int(line.split(" = ")[1].split("#")[0])
    return 0


def parts_of(db):
    """{(id, class): ns} of every slow request."""
    out = {}
    runs = db.execute("SELECT run, first_id, config_toml FROM run ORDER BY run").fetchall()
    ops = db.execute("SELECT ts_ns, ts_ns + dur_ns, cause, parent, channel, die, plane, pages, ts_ns + bus_in_at_ns, bus_in_ns, ts_ns + bus_out_at_ns, bus_out_ns FROM nand_op").fetchall()
    pram = db.execute("SELECT parent, ts_ns, ts_ns + dur_ns FROM pram_write").fetchall()
    for i, (_, first, config) in enumerate(runs):
        last = runs[i + 1][1] if i + 1 < len(runs) else 2**62
        overhead, per_byte, controller = (setting(config, k) for k in ("request_overhead_ns", "ps_per_byte", "controller_request_ns"))
        whole_die = "\nindependent_planes = 0" in config
        requests = db.execute("SELECT id, op, ts_ns, ts_ns + dur_ns, sectors, failed, waited_ns FROM host_request WHERE id > ? AND id <= ? ORDER BY id", (first, last)).fetchall()
        slow = sorted(requests, key=lambda r: (r[2] - r[3] - r[6], r[0]))[: (len(requests) + 999) // 1000]
        moved = lambda sectors: -(-sectors * 512 * per_byte // 1000)
        for id_, op, a, c, sectors, failed, waited in slow:
            if waited:
                out[id_, 15] = waited
            free = -(2**62)
            for other, its_op, ts, _, its_sectors, *_ in requests:
                if id_ - LINE < other <= id_:
                    start = max(ts, free)
                    free = start + overhead + (moved(its_sectors) if its_op == 1 else 0)
            start = min(start, c)
            pieces = [(a, start, 0), (start, start + overhead + (moved(sectors) if op == 1 else 0) + controller, 1)]
            if op == 0 and not failed:
                pieces.append((c - moved(sectors), c, 1))
            lane = 5 if whole_die else 6
            own = [o for o in ops if o[3] == id_]
            lanes, channels = {o[lane] for o in own}, {o[4] for o in own}
            for o in own:
                if o[7] == 1 and o[2] == 0:
                    pieces += [(o[8], o[8] + o[9], 2), (o[10], o[10] + o[11], 2)]
                pieces.append((o[0], o[1], 3 if o[2] in DATA else 12 if o[2] in COPIES else 4))
            pieces += [(b, e, 5) for parent, b, e in pram if parent == id_]
            near = [o for o in ops if o[0] < c and o[1] > a]
            for o in near:
                if o[3] == id_:
                    continue
                if o[lane] in lanes:
                    pieces.append((o[0], o[1], {0: 6, 1: 7, 2: 8, 3: 9, 7: 7, 8: 7}.get(o[2], 10)))
                if o[4] in channels:
                    pieces += [(o[8], o[8] + o[9], 11), (o[10], o[10] + o[11], 11)]
            edges = sorted({a, c} | {t for b, e, _ in pieces for t in (b, e) if a < t < c} | {t for o in near for t in o[:2] if a < t < c})
            for b, e in zip(edges, edges[1:]):
                kinds = [k for f, t, k in pieces if f <= b and t >= e and t > f]
                if kinds:
                    kind = min(kinds)
                else:
                    active = [o[2] for o in near if o[0] <= b and o[1] >= e]
                    kind = 12 if any(cause in COPIES for cause in active) else 13 if active else 14
                out[id_, kind] = out.get((id_, kind), 0) + e - b
    return out


def wrong_in(db, expected):
    """What is wrong with the views; None: nothing."""
    rows = db.execute("SELECT id, class, what, ns, ts_ns, dur_ns, op, run FROM v_blame_part").fetchall()
    got = {(r[0], r[1]): r[3] for r in rows}
    if len(got) != len(rows):
        return "a part stands twice"
    if got != expected:
        return "parts differ: " + str(sorted(set(got.items()) ^ set(expected.items()))[:4])
    by_id = {}
    for r in rows:
        if r[2] != NAMES[r[1]]:
            return f"class {r[1]} is called {r[2]}"
        by_id.setdefault(r[0], {})[r[1]] = r[3]
    for id_, op, ts, dur in db.execute("SELECT id, op, ts_ns - waited_ns, dur_ns + waited_ns FROM host_request"):
        if id_ in by_id and any((r[4], r[5], r[6]) != (ts, dur, op) for r in rows if r[0] == id_):
            return f"request {id_} is not that of the log"
        if id_ in by_id and sum(by_id[id_].values()) != dur:
            return f"the parts of {id_} do not add up"
    wide = db.execute("SELECT id, dur_ns, " + ", ".join(COLUMNS) + " FROM v_blame_request").fetchall()
    if len(wide) != len(by_id):
        return "rows of v_blame_request"
    for row in wide:
        if [by_id[row[0]].get(k, 0) for k in range(16)] != list(row[2:]) or sum(row[2:]) != row[1]:
            return f"v_blame_request of {row[0]}"
    total = {}
    for r in rows:
        n, ns = total.get((r[7], r[2]), (0, 0))
        total[r[7], r[2]] = (n + 1, ns + r[3])
    summed = db.execute("SELECT run, what, requests, ns, share FROM v_blame").fetchall()
    if {(r[0], r[1]): (r[2], r[3]) for r in summed} != total or len(summed) != len(total):
        return "v_blame"
    for run in {r[0] for r in summed}:
        whole = sum(r[3] for r in summed if r[0] == run)
        if any(abs(r[4] - r[3] / whole) > 1e-6 for r in summed if r[0] == run):
            return "shares of v_blame"
    return None


# Name, view, what stands there, what a mistake would put there.
MUTANTS = [
    ("the queue is dropped", "v_blame_part", "SELECT s.id, s.a AS b, l.link_start AS e, 0 AS class", "SELECT s.id, s.a AS b, s.a AS e, 0 AS class"),
    ("the queue counts twice", "v_blame_part", "1 << class AS d FROM stretch", "(1 << class) << (class = 0) AS d FROM stretch"),
    ("the answer's data on the link are dropped", "v_blame_part", "(h.op = 0 AND h.failed = 0) *", "0 *"),
    ("a failed read moves data, too", "v_blame_part", "(h.op = 0 AND h.failed = 0)", "(h.op = 0)"),
    ("the controller is dropped", "v_blame_part", "l.link_start + s.link_in + s.controller_ns", "l.link_start + s.link_in"),
    ("the command on the link is free", "v_blame_part", "r.overhead_ns + (h.op = 1) *", "(h.op = 1) *"),
    ("the queue forgets requests before", "v_blame_part", "s.id - 512", "s.id - 2"),
    ("data come over the bus only", "v_blame_part", "SELECT id, o0, o0 + o, 2 FROM own WHERE pages = 1 AND cause = 0\n  UNION ALL ", ""),
    ("data go over the bus only", "v_blame_part", "SELECT id, i0, i0 + i, 2 FROM own WHERE pages = 1 AND cause = 0\n  UNION ALL ", ""),
    ("its own cells are dropped", "v_blame_part", "CASE WHEN cause IN (0, 9) THEN 3 WHEN cause IN (1, 2, 4, 7, 8) THEN 12 ELSE 4 END FROM own", "14 FROM own"),
    ("its map is its data", "v_blame_part", "WHEN cause IN (1, 2, 4, 7, 8) THEN 12 ELSE 4 END FROM own", "ELSE 3 END FROM own"),
    ("PRAM is dropped", "v_blame_part", "SELECT s.id, p.ts_ns, p.ts_ns + p.dur_ns, 5 FROM pram_write p CROSS JOIN slow s ON s.id = p.parent\n  UNION ALL ", ""),
    ("collections on its chip count as requests", "v_blame_part", "WHEN 1 THEN 7", "WHEN 1 THEN 6"),
    ("merges on its chip count as collections", "v_blame_part", "WHEN 2 THEN 8", "WHEN 2 THEN 7"),
    ("the map on its chip counts as others", "v_blame_part", "WHEN 3 THEN 9 WHEN", "WHEN"),
    ("foldings on its chip count as others", "v_blame_part", "WHEN 7 THEN 7 ", ""),
    ("scrubs on its chip count as others", "v_blame_part", "WHEN 8 THEN 7 ", ""),
    ("foldings and scrubs elsewhere are no copies", "v_blame_part", "IN (1, 2, 4, 7, 8) THEN 12 ELSE 13", "IN (1, 2, 4) THEN 12 ELSE 13"),
    ("parity is the map", "v_blame_part", "cause IN (0, 9)", "cause = 0"),
    ("any chip is its chip", "v_blame_part", "w.place = o.lane AND ", ""),
    ("any bus is its bus", "v_blame_part", "w.place = o.channel AND ", ""),
    ("others on its bus are dropped", "v_blame_part", "(1 - p.j) * (o.bus_in_at_ns + o.bus_in_ns), 11", "0, 11"),
    ("others' answers on its bus are dropped", "v_blame_part", "JOIN (SELECT 0 AS j UNION ALL SELECT 1) p", "JOIN (SELECT 0 AS j) p"),
    ("dies for planes", "v_blame_part", "CASE s.by_die WHEN 1 THEN o.die ELSE o.plane END AS lane", "CASE s.by_die WHEN 1 THEN o.plane ELSE o.die END AS lane"),
    ("operations that began long before are not looked at", "v_blame_part", "l.link_start / ns - 1 AS bucket, l.link_start / ns - 1 AS first", "l.link_start / ns AS bucket, l.link_start / ns AS first"),
    ("operations that last long are not looked at", "v_blame_part", "o.is_later = 0 OR w.bucket = w.first) AND o.parent IS NOT w.id\n  UNION ALL", "o.is_later = 0) AND o.parent IS NOT w.id\n  UNION ALL"),
    ("long work elsewhere is not looked at", "v_blame_part", "WHERE o.is_later = 0 OR r.bucket = r.first", "WHERE o.is_later = 0"),
    ("what ends within the request is seen only", "v_blame_part", "WHERE p.b < s.c AND p.e > s.a", "WHERE p.e < s.c AND p.e > s.a"),
    ("collections elsewhere are dropped", "v_blame_part", "CASE WHEN cause IN (1, 2, 4, 7, 8) THEN 12 ELSE 13 END AS class FROM busy", "13 AS class FROM busy"),
    ("work elsewhere is a rest", "v_blame_part", "WHEN at & 8192 THEN 13 ", ""),
    ("work elsewhere that overlaps ends with its first", "v_blame_part", "max(e, ifnull(max(e) OVER w, e)) AS until", "e AS until"),
    ("pieces that overlap end with the first", "v_blame_part", "max(e, ifnull(before, e)) AS e", "e"),
    ("a pause between two pieces is filled", "v_blame_part", "WHERE next IS NULL OR next > e\n", "WHERE next IS NULL\n"),
    ("a phase counts twice", "v_blame_part", "(SELECT id, class, sum(ns) AS ns FROM part GROUP BY id, class)", "(SELECT id, class, sum(ns) * (1 + (class = 3)) AS ns FROM part GROUP BY id, class)"),
    ("a phase is dropped", "v_blame_part", "JOIN what w USING(class) WHERE p.ns > 0", "JOIN what w USING(class) WHERE p.ns > 0 AND class <> 1"),
    ("another order of what comes first", "v_blame_part", "WHEN at & 64 THEN 6 WHEN at & 128 THEN 7", "WHEN at & 128 THEN 7 WHEN at & 64 THEN 6"),
    ("the fastest for the slowest", "v_blame_part", "ORDER BY h.dur_ns + h.waited_ns DESC, h.id", "ORDER BY h.dur_ns + h.waited_ns, h.id"),
    ("a wait in its queue makes no request slow", "v_blame_part", "ORDER BY h.dur_ns + h.waited_ns DESC, h.id", "ORDER BY h.dur_ns DESC, h.id"),
    ("the wait in its queue is dropped", "v_blame_part", "SELECT id, w AS ns, 15 AS class FROM slow\n  UNION ALL SELECT id, u - t, CASE", "SELECT id, u - t AS ns, CASE"),
    ("the latency begins at the fetch", "v_blame_part", "s.c - s.a + s.w AS dur_ns", "s.c - s.a AS dur_ns"),
    ("one request too few", "v_blame_part", "p.place <= (p.n + 999) / 1000", "p.place <= p.n / 1000"),
    ("two names change places", "v_blame_part", "(7, 'chip: collection', ", "(7, 'chip: merge', "),
    ("a column of v_blame_request takes another class", "v_blame_request", "sum(ns * (class = 7)) AS chip_collection_ns", "sum(ns * (class = 8)) AS chip_collection_ns"),
    ("v_blame_request loses the rest", "v_blame_request", "sum(ns * (class = 14)) AS rest_ns", "0 AS rest_ns"),
    ("v_blame counts parts for shares", "v_blame", "ns * 1.0 / sum(ns)", "requests * 1.0 / sum(requests)"),
    ("v_blame takes the longest for the sum", "v_blame", "sum(ns) AS ns FROM", "max(ns) AS ns FROM"),
]


# What a log may hold and runs of today seldom do: failed requests, time in which no chip worked, a slow request that writes to the PRAM.
DOCTORED = ["UPDATE nand_op SET cause = 7 + n % 3 WHERE n % 2 = 0", "UPDATE host_request SET failed = 1, op = 0", "DELETE FROM nand_op WHERE n % 3 <> 0", "DELETE FROM nand_op",
            "UPDATE nand_op SET dur_ns = dur_ns * 50 WHERE n % 97 = 0", "UPDATE nand_op SET dur_ns = dur_ns * 9 WHERE n % 3 = 0",
            "UPDATE pram_write SET parent = (SELECT id FROM host_request ORDER BY dur_ns DESC, id LIMIT 1)"]


def with_view(db, name, sql):
    """Replaces a view, and makes those anew that stand on it."""
    db.execute(f"DROP VIEW {name}")
    db.execute(sql)


def steps_of(path, doctored):
    """Thousands of steps of SQLite's machine that the blame of a log takes."""
    db, steps = sqlite3.connect(":memory:"), [0]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
        file.backup(db)
    db.execute(doctored)

    def made():
        steps[0] += 1
        return steps[0] > 1_000_000
    db.set_progress_handler(made, 1000)
    db.execute("SELECT count(*) FROM v_blame_part").fetchall()
    return steps[0]


def main():
    if sys.argv[1] == "growth":
        for path in sys.argv[2:]:
            usual, late = steps_of(path, ""), steps_of(path, "UPDATE nand_op SET dur_ns = dur_ns * 2000 WHERE n = (SELECT max(n) / 2 FROM nand_op)")
            print(f"blame: {usual} thousand steps, {late} with an operation that waited long")
            if late > 2 * usual:
                return True
        return False
    mode, logs = sys.argv[1], sys.argv[2:]
    failures = 0
    opened = []
    for path, doctored in [(path, "") for path in logs] + [(path, sql) for path in logs[:2] for sql in DOCTORED if mode == "mutants"]:
        memory = sqlite3.connect(":memory:")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
            file.backup(memory)
        memory.execute(doctored)
        expected = parts_of(memory)
        opened.append((path, memory, expected))
        wrong = wrong_in(memory, expected)
        if wrong or not expected:
            failures += 1
            print(f"WRONG: {path} {doctored}: {wrong or 'no slow request'}")
    if mode == "judge" or failures:
        return failures != 0
    for name, view, there, put in MUTANTS:
        sql = opened[0][1].execute("SELECT sql FROM sqlite_schema WHERE name = ?", (view,)).fetchone()[0]
        if sql.count(there) < 1:
            failures += 1
            print(f"WRONG: mutant '{name}': the view has no longer: {there}")
            continue
        seen = None
        for path, db, expected in opened:
            with_view(db, view, sql.replace(there, put))
            try:
                seen = wrong_in(db, expected)
            except sqlite3.Error as error:
                seen = None
                print(f"WRONG: mutant '{name}' is no SQL: {error}")
            with_view(db, view, sql)
            if seen:
                break
        if not seen:
            failures += 1
            print(f"WRONG: nobody sees the mutant: {name}")
    print(f"{len(MUTANTS)} broken views, {len(MUTANTS) - failures} seen")
    return failures != 0


sys.exit(main())
