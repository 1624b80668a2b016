#!/usr/bin/env python3
"""Requests through /dev/fuse and through io_uring in turn, at latency off: processor time of the daemon a request, and requests a second.

    tools/bench_io_uring.py FLASHLAB [ROUNDS [REQUESTS]]

Needs fio, 600 MiB in /dev/shm, and a host whose libfuse and kernel have FUSE over io_uring (fs/fuse/DESIGN.md, "Rings"). Prints medians."""
import collections
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

LOADS = {
    "random reads, one job": ["--rw=randread", "--ioengine=psync", "--numjobs=1"],
    "random writes, one job": ["--rw=randwrite", "--ioengine=psync", "--numjobs=1"],
    "random reads, four jobs": ["--rw=randread", "--ioengine=psync", "--numjobs=4"],
    "random writes, four jobs": ["--rw=randwrite", "--ioengine=psync", "--numjobs=4"],
    "random reads, libaio, depth 16": ["--rw=randread", "--ioengine=libaio", "--iodepth=16", "--numjobs=1"],
    "sequential reads of 128 KiB, one job": ["--rw=read", "--bs=128k", "--ioengine=psync", "--numjobs=1"],
}


def daemon_of(device):
    for words in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            line = open(words, encoding="utf-8", errors="replace").read().split("\0")
        except OSError:
            continue
        if "mount" in line and device in line:
            return words.split("/")[2]
    sys.exit("the daemon is gone")


def processor_ns(process):
    return sum(int(open(task, encoding="ascii").read().split()[0]) for task in glob.glob(f"/proc/{process}/task/*/schedstat"))


def fio(words, requests):
    bytes_each = 131072 if "--bs=128k" in words else 4096
    jobs = int(words[-1].split("=")[1])
    requests = requests if bytes_each == 4096 else requests // 10
    out = subprocess.run(
        ["fio", "--name=x", "--directory=mnt", "--size=32M", "--bs=4k", "--direct=1", "--group_reporting", "--output-format=json",
         f"--io_size={requests // jobs * bytes_each}", *words], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    job = json.loads(out[out.index("{"):])["jobs"][0]
    return job["read"]["total_ios"] + job["write"]["total_ios"], job["read"]["iops"] + job["write"]["iops"]


def main():
    flashlab = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    requests = int(sys.argv[3]) if len(sys.argv) > 3 else 8000
    work = tempfile.mkdtemp(dir="/dev/shm")
    device = work + "/device"
    os.chdir(work)
    os.mkdir("mnt")
    subprocess.run([flashlab, "mkfs", device, "--size", "512M", "-q"], check=True, stderr=subprocess.DEVNULL)
    seen = collections.defaultdict(lambda: collections.defaultdict(list))
    try:
        for turn in range(rounds):
            for use in ("off", "on"):
                subprocess.run([flashlab, "mount", device, work + "/mnt", "-o", "io_uring=" + use, "--log", "none"], check=True)
                stats = json.loads(subprocess.run([flashlab, "ctl", work + "/mnt", "stats", "--json"], check=True, capture_output=True).stdout)
                if stats["transport"] != {"off": "dev_fuse", "on": "io_uring"}[use]:
                    sys.exit(f"io_uring={use}: requests come through {stats['transport']}; the mount has said why")
                process = daemon_of(device)
                if turn == 0 and use == "off":
                    for number in range(4):
                        with open(f"mnt/x.{number}.0", "wb") as file:
                            file.write(os.urandom(32 << 20))
                    os.sync()
                for name, words in LOADS.items():
                    before = processor_ns(process)
                    made, a_second = fio(words, requests)
                    seen[name][use].append(((processor_ns(process) - before) / made / 1e3, a_second))
                subprocess.run([flashlab, "umount", work + "/mnt"], check=True, stdout=subprocess.DEVNULL)
    finally:
        subprocess.run([flashlab, "umount", work + "/mnt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        os.chdir("/")
        shutil.rmtree(work)
    print("| load | `/dev/fuse` | io_uring | ratio |\n|---|---|---|---|")
    for name, of in seen.items():
        took = {use: [statistics.median(column) for column in zip(*rows)] for use, rows in of.items()}
        print(f"| {name} | {took['off'][1]:,.0f}, {took['off'][0]:.1f} us | {took['on'][1]:,.0f}, {took['on'][0]:.1f} us | {took['on'][1] / took['off'][1]:.2f} |")


if __name__ == "__main__":
    main()
