#!/usr/bin/env bash
# How fast is the mount? The same loads on FlashLab (images on tmpfs, latency off, log none), on libfuse's example pass-through over tmpfs, and on tmpfs itself.
# Each load runs on all of them in turn, round after round, the order turned each time. A rate is the median of the rounds; a ratio is the median of the rounds'
# own ratios, so that what else runs on the machine hurts both sides alike. Beside them stands the processor time that the daemon spent for one operation (or
# KiB), in the best round: it hardly depends on who else is on the machine. Only figures of one run mean something.
#
#   bash tools/bench_mount.sh [--rounds N] [--seconds N] [--log LEVEL] [--only REGEX] [--threads N]     defaults: 5 rounds of 1 second, log none, every load, 2
#   BUILD=build/release bash tools/bench_mount.sh                                                       another build
#
# The pass-through is compiled from Debian's documentation of libfuse3-dev into a temporary directory, and gets what FlashLab has: extended attributes on, long
# timeouts, cached pages kept across opens, default_permissions, as many threads. Without it its column is empty.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build/release}" && pwd)
rounds=5 seconds=1 log=none only=. threads=2
while (($#)); do
    case $1 in
    --rounds) rounds=$2 ;;
    --seconds) seconds=$2 ;;
    --log) log=$2 ;;
    --only) only=$2 ;;
    --threads) threads=$2 ;;
    *) echo "bench_mount: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done

work=$(mktemp -d /dev/shm/flashlab-bench.XXXXXX)
mkdir "$work"/{flashlab,passthrough,tmpfs,backing}
declare -A daemon=()
unmount() { # PLACE: returns when its daemon has gone
    [[ -n ${daemon[$1]-} ]] || return 0
    fusermount3 -u "$work/$1" 2> /dev/null || fusermount3 -u -z "$work/$1" 2> /dev/null || true
    wait "${daemon[$1]}" 2> /dev/null || true
    daemon[$1]=
}
finish() {
    unmount flashlab
    unmount passthrough
    rm -rf --one-file-system "$work"
}
trap finish EXIT

wait_for_mount() { # PLACE
    for _ in $(seq 500); do
        mountpoint -q "$work/$1" && return
        sleep 0.02
    done
    echo "bench_mount: $1 was not mounted within 10 s" >&2 && exit 1
}
mount_flashlab() {
    "$build/flashlab" mount "$work/device" "$work/flashlab" --foreground --log "$log" -o "threads=$threads" > "$work/flashlab.log" 2>&1 &
    daemon[flashlab]=$!
    wait_for_mount flashlab
}
compile_passthrough() {
    local source=/usr/share/doc/libfuse3-dev/examples
    cp "$source"/passthrough_ll.c* "$source"/passthrough_helpers.h* "$work/" 2> /dev/null || return 1
    gunzip -f "$work"/*.gz 2> /dev/null || true
    # shellcheck disable=SC2046 # flags
    cc -O2 -DHAVE_FUTIMENS=1 "$work/passthrough_ll.c" -o "$work/passthrough_ll" $(pkg-config --cflags --libs fuse3) 2> "$work/cc.log"
}
mount_passthrough() {
    "$work/passthrough_ll" -f -o "source=$work/backing,xattr,cache=always,default_permissions,max_threads=$threads" "$work/passthrough" > /dev/null 2>&1 &
    daemon[passthrough]=$!
    wait_for_mount passthrough
}
remount() { # PLACE: nothing of it is in the kernel's caches afterwards
    [[ $1 == tmpfs ]] && return
    unmount "$1"
    "mount_$1"
}

"$build/flashlab" mkfs "$work/device" > /dev/null
mount_flashlab
places=(flashlab)
if compile_passthrough; then
    mount_passthrough
    places+=(passthrough)
else
    echo "no pass-through here: libfuse3-dev's example passthrough_ll.c is missing or does not compile"
fi
places+=(tmpfs)

cpu_ns() { # PLACE: what the threads of its daemon have used so far
    [[ -n ${daemon[$1]-} ]] || { echo 0 && return; }
    cat "/proc/${daemon[$1]}"/task/*/schedstat 2> /dev/null | awk '{ used += $1 } END { printf "%.0f", used }'
}

declare -A target=()
names=()
load() { # NAME TARGET function: the function gets a place and leaves its operations, wall and CPU nanoseconds in $work/figures
    local name=$1 place round turn count=${#places[@]} operations wall cpu
    [[ $name =~ $only ]] || return 0
    names+=("$name")
    target[$name]=$2
    for ((round = 0; round < rounds; ++round)); do
        for ((turn = 0; turn < count; ++turn)); do
            place=${places[$(((round + turn) % count))]}
            rm -f "$work/figures"
            "$3" "$place" > /dev/null
            read -r operations wall cpu < "$work/figures" || { echo "bench_mount: $name failed on $place" >&2 && exit 1; }
            echo "$name;$round;$place;$operations;$wall;$cpu" >> "$work/rounds"
        done
    done
}
timed() { # PLACE OPERATIONS command...
    local place=$1 operations=$2 before after start end
    shift 2
    before=$(cpu_ns "$place") start=$(date +%s%N)
    "$@"
    end=$(date +%s%N) after=$(cpu_ns "$place")
    echo "$operations $((end - start)) $((after - before))" > "$work/figures"
}
fio_on() { # PLACE options...: operations and run time are fio's own, without its start
    local place=$1 before after
    shift
    before=$(cpu_ns "$place")
    fio --name=bench --directory="$work/$place" --ioengine=psync --group_reporting --output-format=json "$@" > "$work/fio.json" 2> "$work/fio.log"
    after=$(cpu_ns "$place")
    python3 - "$work/fio.json" $((after - before)) > "$work/figures" << 'PYTHON'
import json, sys
text = open(sys.argv[1]).read()
job = json.loads(text[text.index("{"):])["jobs"][0]
side = job["read"] if job["read"]["total_ios"] else job["write"]
amount = side["total_ios"] if side["io_bytes"] // side["total_ios"] < 65536 else side["io_bytes"] // 1024
print(amount, side["runtime"] * 1000000, sys.argv[2])
PYTHON
}
timed_run=(--runtime="$seconds" --time_based)

random_read() { fio_on "$1" --rw=randread --bs=4k --size=128m --direct=1 "${timed_run[@]}"; }
random_write() { fio_on "$1" --rw=randwrite --bs=4k --size=128m "${timed_run[@]}"; }
random_read_4() { fio_on "$1" --rw=randread --bs=4k --size=32m --numjobs=4 --direct=1 "${timed_run[@]}"; }
random_write_4() { fio_on "$1" --rw=randwrite --bs=4k --size=32m --numjobs=4 "${timed_run[@]}"; }
synced_write() { fio_on "$1" --rw=randwrite --bs=4k --size=32m --fsync=1 "${timed_run[@]}"; }
# A drive that writes elsewhere each time touches its whole image before it comes back to where it was, and memory that a virtual machine touches for the first
# time costs several times what any file system does: so everybody has written as much as the drive holds before the first round.
touched=" "
touch_all() {
    [[ $touched == *" $1 "* ]] && return
    touched+="$1 "
    fio --name=bench --directory="$work/$1" --ioengine=psync --rw=write --bs=1m --size=512m --loops=10 > /dev/null
}
sequential_write() { touch_all "$1" && fio_on "$1" --rw=write --bs=1m --size=512m; }
sequential_read() { fio_on "$1" --rw=read --bs=1m --size=512m; } # fio drops the file from the page cache first
files=10000
phase() { timed "$1" $files "$build/live/many_files" "$work/$1/many" $files "$2"; }
create() { rm -rf "$work/$1/many" && mkdir "$work/$1/many" && phase "$1" create; }
with_files() {
    [[ -d $work/$1/many ]] && [[ -e $work/$1/many/f0 ]] || { mkdir -p "$work/$1/many" && "$build/live/many_files" "$work/$1/many" $files create; }
}
stat_cold() { with_files "$1" && remount "$1" && phase "$1" stat; }
list_cold() { with_files "$1" && remount "$1" && phase "$1" list; }
rename_all() { with_files "$1" && timed "$1" $((2 * files)) "$build/live/many_files" "$work/$1/many" $files rename; }
remove_all() { with_files "$1" && phase "$1" remove; }
make_repository() {
    mkdir "$work/source"
    awk 'BEGIN { srand(7); for (f = 0; f < 2000; ++f) { dir = sprintf("%s/d%02d", "'"$work/source"'", f % 50); if (f < 50) system("mkdir " dir)
        name = sprintf("%s/f%04d.txt", dir, f); for (l = 0; l < 60 + 240 * rand(); ++l) print int(1e9 * rand()), "line", l, "of file", f > name; close(name) } }'
    git -C "$work/source" init -q
    git -C "$work/source" add .
    git -C "$work/source" -c user.name=bench -c user.email=bench@localhost commit -qm files
}
clone_it() { git -c safe.directory='*' clone -q "file://$work/source" "$work/$1/clone"; }
clone_2000() {
    [[ -d $work/source ]] || make_repository
    rm -rf "$work/$1/clone"
    timed "$1" 2000 clone_it "$1"
}

load "4 KiB random read" 0.90 random_read
load "4 KiB random write" 0.80 random_write
load "4 KiB random read, 4 jobs" 0.90 random_read_4
load "4 KiB random write, 4 jobs" 0.80 random_write_4
load "1 MiB sequential write, KiB" 0.50 sequential_write
load "1 MiB sequential read, KiB" 1.50 sequential_read
load "4 KiB random write + fsync" - synced_write
load "create" 1.00 create
load "stat, cold" 0.80 stat_cold
load "list, cold" - list_cold
load "rename" 1.00 rename_all
load "unlink" 1.00 remove_all
load "clone of 2000 files" 0.77 clone_2000

python3 - "$work/rounds" "$(for name in "${names[@]}"; do echo "$name;${target[$name]}"; done)" << 'PYTHON'
import statistics, sys
rate, cost = {}, {}
for line in open(sys.argv[1]):
    name, turn, place, operations, wall, cpu = line.strip().split(";")
    rate.setdefault((name, place), []).append(int(operations) * 1e9 / max(1, int(wall)))
    cost.setdefault((name, place), []).append(int(cpu) / max(1, int(operations)))
def median(name, place):
    return "%.0f" % statistics.median(rate[name, place]) if (name, place) in rate else "-"
def ratio(name, place):
    pairs = zip(rate[name, "flashlab"], rate.get((name, place), []))
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    return ("%.2f" % statistics.median(ratios), "%.2f-%.2f" % (ratios[0], ratios[-1])) if ratios else ("-", "")
def best(name, place):
    return "%.0f" % min(cost[name, place]) if (name, place) in cost else "-"
row = "%-30s %10s %10s %10s | %8s %11s %6s | %8s | %12s %11s"
print()
print(row % ("load, operations/s", "flashlab", "pass-thr.", "tmpfs", "to pass.", "range", "target", "to tmpfs", "daemon ns/op", "pass. ns/op"))
for line in sys.argv[2].split("\n"):
    name, target = line.split(";")
    print(row % (name, median(name, "flashlab"), median(name, "passthrough"), median(name, "tmpfs"), *ratio(name, "passthrough"), target,
                 ratio(name, "tmpfs")[0], best(name, "flashlab"), best(name, "passthrough")))
if ("list, cold", "flashlab") in rate:
    print("\nlisting 10,000 entries: %.1f ms (target 15 ms)" % (1e7 / statistics.median(rate["list, cold", "flashlab"])))
PYTHON
