"""Checks a timeline of `flashlab export --perfetto` against the rules of the trace event format and against the log that it was made of.

usage: timeline_check.py TIMELINE LOG FROM_NS TO_NS   (times of the drive)
"""
import json
import sqlite3
import sys
from collections import defaultdict
from decimal import Decimal

timeline, log, begin, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("WRONG:", what)


def ns(us):
    exact = us * 1000
    check(exact == exact.to_integral_value(), f"{us} us are no whole nanoseconds")
    return int(exact)


with open(timeline) as file:
    trace = json.load(file, parse_float=Decimal)
events = trace["traceEvents"]
names, threads, slices, starts, ends = {}, {}, defaultdict(list), {}, {}
for e in events:
    kind = e["ph"]
    check(kind in "MXsfC", f"unknown phase {kind}")
    if kind == "M" and e["name"] == "process_name":
        names[e["pid"]] = e["args"]["name"]
    elif kind == "M" and e["name"] == "thread_name":
        threads[e["pid"], e["tid"]] = e["args"]["name"]
    elif kind == "X":
        slices[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["dur"]), e))
    elif kind in "sf":
        where = starts if kind == "s" else ends
        check(e["id"] not in where, f"two arrows {e['id']}")
        where[e["id"]] = e
for place, of in slices.items():
    check(place in threads and place[0] in names, f"track {place} has no name")
    check(all(dur >= 0 for _, dur, _ in of), f"{threads.get(place)} has a slice that ends before it begins")
    open_until = []
    for ts, dur, e in sorted(of, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= ts:
            open_until.pop()
        check(not open_until or ts + dur <= open_until[-1], f"{threads.get(place)}: a slice at {ts} overlaps another by halves")
        open_until.append(ts + dur)
check(set(starts) == set(ends), "arrows lack an end")
begins = {place: {ts for ts, _, _ in of} for place, of in slices.items()}
for arrow in list(starts.values()) + list(ends.values()):
    check(ns(arrow["ts"]) in begins.get((arrow["pid"], arrow["tid"]), ()), f"arrow {arrow['id']} is not at the beginning of a slice")
check(all(ns(starts[i]["ts"]) <= ns(ends[i]["ts"]) for i in starts if i in ends), "an effect comes before its cause")

db = sqlite3.connect(f"file:{log}?mode=ro", uri=True)
within = f"ts_ns < {end} AND ts_ns + dur_ns > {begin}"
by_layer = defaultdict(int)
for (pid, _), of in slices.items():
    by_layer[names[pid]] += len(of)
for layer, table in (("Planes", "nand_op"), ("Host requests", "host_request"), ("Collections and merges", "gc_job"), ("PRAM", "pram_write")):
    (rows,) = db.execute(f"SELECT count(*) FROM {table} WHERE {within}").fetchone()
    check(by_layer[layer] == rows, f"{layer}: {by_layer[layer]} slices, {rows} rows")
(caused,) = db.execute(
    f"SELECT count(*) FROM nand_op WHERE {within} AND parent IN (SELECT id FROM host_request WHERE {within} UNION ALL SELECT id FROM gc_job WHERE {within})"
).fetchone()
check(len(starts) == caused, f"{len(starts)} arrows, {caused} operations with a cause in the window")
check(by_layer["Planes"] > 100 and len(starts) > 100, "the window is too small to show anything")
for layer in ("Host link", "Channels"):
    check(by_layer[layer] > 0, f"{layer} is empty")
total = sum(dur for (pid, _), of in slices.items() if names[pid] == "Channels" for _, dur, _ in of)
(busy,) = db.execute(f"SELECT sum(bus_in_ns + bus_out_ns) FROM nand_op WHERE {within} AND pages = 1").fetchone()
check(total == busy, f"the channels moved data for {total} ns, in the log for {busy}")
print(f"{sum(by_layer.values())} slices, {len(starts)} arrows, {failures} faults")
sys.exit(failures != 0)
