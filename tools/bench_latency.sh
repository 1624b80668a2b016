#!/usr/bin/env bash
# At latency real, how far is what a program sees from what the drive says? For each request of fio: seen minus simulated, in microseconds, lowest, first percentile,
# median, 99th percentile; requests of 25 us of simulated time and more. Wanted on a quiet machine: never below -1, median <= 1, p99 <= 15.
#
#   bash tools/bench_latency.sh [--requests N] [--size BYTES]     defaults: 2000 requests of each load, of 4k each
#   BUILD=build/release bash tools/bench_latency.sh               another build
#
# The mount writes through, so that a write is one request that takes as long as its programs; after a write by O_SYNC the kernel sends an fsync as well.
# fio writes down what it saw of each request, the event log what the drive took; they meet by their offsets, each of which is visited once. The load average is
# printed: beside other work the figures say how busy the machine was.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build/release}" && pwd)
requests=2000 size=4k
while (($#)); do
    case $1 in
    --requests) requests=$2 ;;
    --size) size=$2 ;;
    *) echo "bench_latency: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d /dev/shm/flashlab-latency.XXXXXX)
mkdir "$work/mnt"
finish() {
    if mountpoint -q "$work/mnt"; then "$build/flashlab" umount "$work/mnt" > /dev/null || true; fi
    rm -rf --one-file-system "$work"
}
trap finish EXIT
"$build/flashlab" mkfs "$work/device" --size 1G > /dev/null 2>&1
"$build/flashlab" mount "$work/device" "$work/mnt" --log requests -o host_cache=writethrough > "$work/mount.log" 2>&1 || { cat "$work/mount.log" && exit 1; }
fio --name=file --filename="$work/mnt/file" --rw=write --bs=1m --size=256m --end_fsync=1 > /dev/null
"$build/flashlab" ctl "$work/mnt" set latency=real > /dev/null

echo "load average $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors; $requests requests of $size"
printf '%-22s %9s %12s %9s %9s %9s %9s\n' "load, us" requests simulated lowest p1 median p99
for rw in randread randwrite; do
    for depth in 1 8; do
        [[ $depth == 1 ]] && engine=psync || engine=libaio
        since=$("$build/flashlab" query "$work/device" --csv "SELECT coalesce(max(id), 0) AS last FROM fs_op" | tail -n 1)
        fio --name=file --filename="$work/mnt/file" --rw="$rw" --bs="$size" --direct=1 --ioengine="$engine" \
            --iodepth="$depth" --number_ios="$requests" --size=256m --randrepeat=0 --write_lat_log="$work/seen" --log_offset=1 > "$work/fio.log" 2>&1 || { cat "$work/fio.log" && exit 1; }
        sleep 2 # the event log is written behind
        "$build/flashlab" query "$work/device" --csv "SELECT offset_bytes, dur_ns FROM fs_op JOIN fs_op_name USING (op) WHERE id > $since AND name = '${rw#rand}'" > "$work/simulated"
        python3 - "$work"/seen_lat.1.log "$work/simulated" "$rw, depth $depth" << 'PYTHON'
import csv, sys
seen = {}
for line in open(sys.argv[1]):
    fields = [int(field, 0) for field in line.split(",")[:5]]
    seen[fields[4]] = fields[1]
rows = list(csv.reader(open(sys.argv[2])))[1:]
simulated = {int(offset): int(took) for offset, took in rows}
off, took = [], []
for offset, saw in seen.items():
    if simulated.get(offset, 0) >= 25000:
        off.append((saw - simulated[offset]) / 1000)
        took.append(simulated[offset] / 1000)
off.sort()
took.sort()
if off:
    at = lambda values, share: values[min(len(values) - 1, int(len(values) * share))]
    print("%-22s %9d %12.1f %9.1f %9.1f %9.1f %9.1f" % (sys.argv[3], len(off), at(took, 0.5), off[0], at(off, 0.01), at(off, 0.5), at(off, 0.99)))
else:
    print("%-22s no request took 25 us or more" % sys.argv[3])
PYTHON
        rm -f "$work"/seen*
    done
done
