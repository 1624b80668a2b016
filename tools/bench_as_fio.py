#!/usr/bin/env python3
"""The jobs of docs/fidelity.md ("Your own drive") on a simulated drive: what fio would have printed of it, so that a fit can be judged.

    flashlab fit $(tools/bench_as_fio.py FLASHLAB DIRECTORY [--preset NAME] [--set KEY=VALUE ...])

Writes drive.json, and fill.log of one fill of the erased drive, into the directory; prints the arguments of `flashlab fit` that go with them.
Exit codes: 0 measured, 1 bench failed, 2 wrong usage."""
import json
import os
import subprocess
import sys

AGED = "fill:100,random:2x"
JOBS = [  # name, how old the drive is, requests that do not count, loads beside each other
    ("answers", AGED, 5000, [{"rw": "randwrite", "bs": "4k", "iodepth": 1}]),
    ("reads", "fill:100", 0, [{"rw": "randread", "bs": "4k", "iodepth": 1}]),
    ("some-reads", "fill:100", 0, [{"rw": "randread", "bs": "4k", "iodepth": 16}]),
    ("deep-reads", "fill:100", 0, [{"rw": "randread", "bs": "4k", "iodepth": 256}]),
    ("large-reads", "fill:100", 0, [{"rw": "randread", "bs": "128k", "iodepth": 1}]),
    ("deep-large-reads", "fill:100", 0, [{"rw": "read", "bs": "128k", "iodepth": 32}]),
    ("in-order", "", 0, [{"rw": "write", "bs": "128k", "iodepth": 32}]),
    ("overwrites", AGED, 100000, [{"rw": "randwrite", "bs": "4k", "iodepth": 64, "io_size": "1000M"}]),
    ("mixed", AGED, 20000, [{"rw": "randrw", "bs": "4k", "iodepth": 16, "rwmixread": 70}]),
    ("beside", AGED, 10000, [{"rw": "randwrite", "bs": "4k", "iodepth": 64}, {"rw": "randread", "bs": "4k", "iodepth": 1}]),
    ("light", AGED, 5000, [{"rw": "randwrite", "bs": "4k", "iodepth": 64, "rate_iops": 10000, "rate_process": "poisson"},
                           {"rw": "randread", "bs": "4k", "iodepth": 1}]),
]
SECONDS = 1  # of the drive


def bench(flashlab, device, arguments):
    out = subprocess.run([flashlab, "bench", "--json", *device, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if out.returncode:
        sys.exit(1)
    return json.loads(out.stdout)


def direction(requests, seconds, us):
    latency = {"percentile": {f"{p:.6f}": round(us[key] * 1e3) for p, key in ((50, "p50"), (99, "p99"))}} if requests else {}
    return {"total_ios": requests, "iops": requests / seconds, "clat_ns": latency}


def run(flashlab, device, group, name, age, warm_up, loads):
    words = [",".join(f"{k.replace('_', '-')}={v}" for k, v in load.items()) + ("" if "io_size" in load else f",runtime={SECONDS}") for load in loads]
    arguments = ["--seed", str(100 + group)] + (["--precondition", age] if age else [])
    arguments += ["--warm-up", str(warm_up)] if warm_up else []
    for word in words:
        arguments += ["--queue", word]
    report = bench(flashlab, device, arguments)
    jobs = []
    for load, queue in zip(loads, report["queues"]):
        is_one = len(loads) == 1
        reads = report["reads"] if is_one else queue["requests"] if "read" in load["rw"] else 0
        writes = report["writes"] if is_one else queue["requests"] - reads
        options = {key: str(value) for key, value in load.items()} | ({"stonewall": None} if load is loads[0] else {})
        jobs.append({"jobname": name if is_one else f"{name}-{load['rw']}", "groupid": group, "job options": options,
                     "read": direction(reads, report["sim_seconds"], queue["read_us"]),
                     "write": direction(writes, report["sim_seconds"], queue["write_us"])})
    return jobs, report["waf"]


def bandwidth_log(flashlab, events):
    """Lines as fio's write_bw_log has them with log_avg_msec=20, from the requests of an event log."""
    sql = "SELECT (ts_ns + dur_ns) / 20000000 AS bin, SUM(sectors) AS sectors FROM host_request GROUP BY 1 ORDER BY 1"
    rows = json.loads(subprocess.run([flashlab, "query", events, sql, "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    first = rows[0]["bin"]
    return "".join(f"{(row['bin'] - first + 1) * 20}, {row['sectors'] // 2 * 50}, 1, 131072, 0\n" for row in rows)


def fill(flashlab, device, directory, group):
    """The whole, erased drive, once in order."""
    made = subprocess.run([flashlab, "mkfs", "-n", "--json", os.path.join(directory, "none"), *device], stdout=subprocess.PIPE, text=True, check=True)
    events = os.path.join(directory, "fill.db")
    load = {"rw": "write", "bs": "128k", "iodepth": 32, "io-size": json.loads(made.stdout)["size_bytes"] // 131072 * 131072}
    report = bench(flashlab, device, ["--queue", ",".join(f"{k}={v}" for k, v in load.items()), "--events", events, "--log", "requests"])
    with open(os.path.join(directory, "fill.log"), "w") as f:
        f.write(bandwidth_log(flashlab, events))
    os.unlink(events)
    options = {"rw": "write", "bs": "128k", "iodepth": "32", "size": "100%", "stonewall": None}
    return {"jobname": "fill", "groupid": group, "job options": options, "read": direction(0, 1, {}),
            "write": direction(report["writes"], report["sim_seconds"], report["latency_us"]["write"])}


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    flashlab, directory, device = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(directory, exist_ok=True)
    jobs, wafs = [], {}
    for group, (name, age, warm_up, loads) in enumerate(JOBS):
        made, waf = run(flashlab, device, group, name, age, warm_up, loads)
        jobs += made
        if name == "overwrites":
            wafs[name] = waf
    jobs.append(fill(flashlab, device, directory, len(JOBS)))
    with open(os.path.join(directory, "drive.json"), "w") as f:
        json.dump({"fio version": "flashlab bench", "jobs": jobs}, f, indent=1)
    wafs_of = [f"--waf {name}={waf:.4f}" for name, waf in wafs.items()]
    print(os.path.join(directory, "drive.json"), *wafs_of, "--fill-log fill=" + os.path.join(directory, "fill.log"))


main()
