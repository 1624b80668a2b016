#!/usr/bin/env python3
"""Requests through /dev/fuse and through io_uring in turn, at latency off: processor time of the daemon a request, and requests a second.

    tools/bench_io_uring.py FLASHLAB [ROUNDS [REQUESTS]]

Needs fio, 600 MiB in /dev/shm, and a host whose libfuse and kernel have FUSE over io_uring (fs/fuse/DESIGN.md, "Rings"). Prints medians. Exit codes:
0 measured, 1 a program failed or did not end, 2 wrong usage, or something is missing here."""
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

WANTED = """the rings need all of:
  Linux 6.14 or later                      here: {kernel}
  /sys/module/fuse/parameters/enable_uring here: {enabled} (root: echo Y > that file)
  flashlab built with libfuse 3.18 or later, which was built with liburing (fs/fuse/DESIGN.md, "Rings")
with io_uring=on requests come through {transport}, and the mount said:
{said}"""
LONGEST_RUN_S = 600  # of one program; a mount that answers nobody fails by this


def refuse(why):
    print("bench_io_uring: " + why, file=sys.stderr)
    sys.exit(2)


def run(words, **more):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, timeout=LONGEST_RUN_S, **more)


def what_is_missing(transport, said):
    try:
        with open("/sys/module/fuse/parameters/enable_uring", encoding="ascii") as file:
            enabled = file.read().strip()
    except OSError:
        enabled = "no such file"
    return WANTED.format(kernel=os.uname().release, enabled=enabled, transport=transport, said=said.strip() or "(nothing)")


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
    out = run(
        ["fio", "--name=x", "--directory=mnt", "--size=32M", "--bs=4k", "--direct=1", "--group_reporting", "--output-format=json",
         f"--io_size={requests // jobs * bytes_each}", *words], capture_output=True, text=True).stdout
    job = json.loads(out[out.index("{"):])["jobs"][0]
    return job["read"]["total_ios"] + job["write"]["total_ios"], job["read"]["iops"] + job["write"]["iops"]


def arguments():
    words = sys.argv[1:]
    if not 1 <= len(words) <= 3 or not all(word.isdecimal() and int(word) > 0 for word in words[1:]):
        refuse("usage: tools/bench_io_uring.py FLASHLAB [ROUNDS [REQUESTS]]")
    if not os.access(words[0], os.X_OK) or os.path.isdir(words[0]):
        refuse(f"{words[0]} is no program; cmake --build --preset release --target flashlab makes build/release/flashlab")
    if shutil.which("fio") is None:
        refuse("fio is not installed (Debian: apt-get install fio)")
    if not os.access("/dev/shm", os.W_OK) or shutil.disk_usage("/dev/shm").free < 600 << 20:
        refuse("600 MiB in /dev/shm are not free")
    return os.path.abspath(words[0]), *(int(word) for word in words[1:]), *(4, 8000)[len(words) - 1:]


def mount(flashlab, device, use):
    """The daemon's process. Refuses where requests come another way than asked for."""
    said = run([flashlab, "mount", device, os.getcwd() + "/mnt", "-o", "io_uring=" + use, "--log", "none"], capture_output=True, text=True).stderr
    stats = json.loads(run([flashlab, "ctl", "mnt", "stats", "--json"], capture_output=True).stdout)
    if stats["transport"] != {"off": "dev_fuse", "on": "io_uring"}[use]:
        refuse(what_is_missing(stats["transport"], said))
    return daemon_of(device)


def measure(flashlab, rounds, requests):
    device = os.getcwd() + "/device"
    seen = collections.defaultdict(lambda: collections.defaultdict(list))
    for turn in range(rounds):
        for use in ("on", "off"):
            process = mount(flashlab, device, use)
            if turn == 0 and use == "on":
                for number in range(4):
                    with open(f"mnt/x.{number}.0", "wb") as file:
                        file.write(os.urandom(32 << 20))
                os.sync()
            for name, words in LOADS.items():
                before = processor_ns(process)
                made, a_second = fio(words, requests)
                seen[name][use].append(((processor_ns(process) - before) / made / 1e3, a_second))
            run([flashlab, "umount", "mnt"], stdout=subprocess.DEVNULL)
    return seen


def main():
    flashlab, rounds, requests = arguments()
    work = tempfile.mkdtemp(dir="/dev/shm")
    os.chdir(work)
    try:
        os.mkdir("mnt")
        run([flashlab, "mkfs", "device", "--size", "512M", "-q"], stderr=subprocess.DEVNULL)
        seen = measure(flashlab, rounds, requests)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.exit(f"bench_io_uring: {error}: {(getattr(error, 'stderr', None) or '').strip()}")
    finally:
        if os.path.ismount("mnt"):
            subprocess.run([flashlab, "umount", "mnt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=LONGEST_RUN_S)
        os.chdir("/")
        shutil.rmtree(work)
    print(f"requests a second, processor time of the daemon a request; medians of {rounds}; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print("| load | `/dev/fuse` | io_uring | ratio |\n|---|---|---|---|")
    for name, of in seen.items():
        took = {use: [statistics.median(column) for column in zip(*rows)] for use, rows in of.items()}
        print(f"| {name} | {took['off'][1]:,.0f}, {took['off'][0]:.1f} us | {took['on'][1]:,.0f}, {took['on'][0]:.1f} us | {took['on'][1] / took['off'][1]:.2f} |")


if __name__ == "__main__":
    main()
