#!/usr/bin/env python3
"""Goal: a fit of what `bench` measured on a drive finds that drive's parameters again, from another base.

Method: a drive with changed parameters runs the jobs of docs/fidelity.md (tools/bench_as_fio.py); `flashlab fit` gets the results and a base without the
changes. What it finds is compared with what was set.

    tests/cli/fit_own_drive.py FLASHLAB TREE"""
import json
import os
import subprocess
import sys
import tempfile
import time

TIMES, SHARES = 0.05, 20  # a part of the value, and permille of the flash
# Suspends cost a mixed load a few percent, which its noise blurs.
SUSPENDS = 0.25
DRIVES = {  # the base, and what is changed of it
    "a drive of random reads and writes": (["micron-7450-max"], {
        "host_link.firmware_latency_ns": 12000, "nand.page_read_ns": 41000, "nand.bus_ps_per_byte": 1200, "host_link.ps_per_byte": 250, "host_link.controller_request_ns": 2600,
        "nand.chips_per_channel": 4, "nand.page_program_ns": 1500000, "ftl.reserved_permille": 220, "nand.suspend_ns": 80000}),
}


def sets(settings):
    return [word for setting in settings for word in ("--set", setting)]


def is_found(key, found, true):
    off = abs(found - true)
    return off <= SHARES if key.endswith("permille") else off <= (SUSPENDS if "suspend" in key else TIMES) * true


def judge(flashlab, tree, base, truth):
    with tempfile.TemporaryDirectory() as work:
        drive = ["--preset", base[0], *sets(base[1:]), *sets(f"{key}={value}" for key, value in truth.items())]
        made = subprocess.run([sys.executable, os.path.join(tree, "tools/bench_as_fio.py"), flashlab, os.path.join(work, "d"), *drive],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        begin = time.monotonic()
        fit = subprocess.run([flashlab, "fit", *made.stdout.split(), "--base", base[0], *sets(base[1:]), "--json"], stdout=subprocess.PIPE, text=True,
                             check=True)
    print(f"  {time.monotonic() - begin:.0f} s")
    found = {key["key"]: key for key in json.loads(fit.stdout)["keys"]}
    good = True
    for key, true in truth.items():
        one = found[key]
        is_good = one["not_identified"] is None and is_found(key, one["value"], true)
        print(f"  {key:30} {true:>9} found {one['value']:>9.0f}", "" if is_good else f"WRONG {one['not_identified'] or ''}")
        good = good and is_good
    return good


def main():
    results = []
    for name, (base, truth) in DRIVES.items():
        print(name)
        results.append(judge(sys.argv[1], sys.argv[2], base, truth))
    sys.exit(0 if all(results) else 1)


main()
