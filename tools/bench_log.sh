#!/usr/bin/env bash
# What does the event log cost, level by level, and -o use? Mounts and replays with each level in turn, round after round, the order turned each time. A ratio
# is the median over the rounds of what the level took divided by what no log took in the same round: by the clock, where the log's own thread has a second
# core if there is one, and in processor time. That is, of a replay, of all threads; of a mount, of those that serve, with the one that writes the log beside
# (it runs in idle moments). A replay's start, preconditioning and end are taken off: the same command with a single request. Only figures of one run mean
# something, and those by the clock only on two idle cores.
#
#   bash tools/bench_log.sh [--rounds N] [--files N] [--requests N] [--only mount|replay] [--levels L,L...]
#   BUILD=build/release bash tools/bench_log.sh                                              another build
#   defaults: 8 rounds, 10000 files, 1000000 requests, all levels: none,summary,requests,all,use,all+use (the last two: of a mount)
#
# Targets: at most 10 % of a mount, files made included, and 25 % of a replay, at each level, by the clock.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build/release}" && pwd)
rounds=8 files=10000 requests=1000000 only=mount,replay wanted=none,summary,requests,all,use,all+use
while (($#)); do
    case $1 in
    --rounds) rounds=$2 ;;
    --files) files=$2 ;;
    --requests) requests=$2 ;;
    --only) only=$2 ;;
    --levels) wanted=none,$2 ;;
    *) echo "bench_log: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d /dev/shm/flashlab-bench-log.XXXXXX)
daemon=
finish() {
    fusermount3 -u -z "$work/mnt" 2> /dev/null || true
    [[ -z $daemon ]] || wait "$daemon" 2> /dev/null || true
    rm -rf --one-file-system "$work"
}
trap finish EXIT
mkdir "$work/mnt"

# Of the daemon's threads: nanoseconds of those that serve, and of those with SCHED_IDLE (5), which write the log.
cpu_ns() {
    local task policy used serving=0 idle=0
    for task in /proc/"$daemon"/task/*; do
        policy=$(sed 's/.*) //' "$task/stat" 2> /dev/null | cut -d ' ' -f 39) && read -r used _ < "$task/schedstat" || continue
        if [[ $policy == 5 ]]; then idle=$((idle + used)); else serving=$((serving + used)); fi
    done
    echo "$serving $idle"
}
measured() { # ROUND LEVEL LOAD OPERATIONS COMMAND...: appends wall, serving and idle nanoseconds for an operation
    local round=$1 level=$2 load=$3 operations=$4 before after start
    shift 4
    read -ra before < <(cpu_ns)
    start=$(date +%s%N)
    "$@" > /dev/null
    local wall=$(($(date +%s%N) - start))
    read -ra after < <(cpu_ns)
    echo "$load;$round;$level;$((wall / operations));$(((after[0] - before[0]) / operations));$(((after[1] - before[1]) / operations))" >> "$work/rounds"
}
write_4k() { fio --name=w --directory="$work/mnt" --ioengine=psync --rw=randwrite --bs=4k --size=32m --io_size=64m --randseed=7 --fsync=256; }
read_4k() { fio --name=w --directory="$work/mnt" --ioengine=psync --rw=randread --bs=4k --size=32m --io_size=32m --randseed=9 --direct=1; }
mounted_round() { # ROUND LEVEL
    local round=$1 level=$2 options=()
    rm -rf "$work/device"
    "$build/flashlab" mkfs "$work/device" --size 1G > /dev/null
    case $level in
    use) options=(--log none -o use) ;;
    all+use) options=(--log all -o use) ;;
    *) options=(--log "$level") ;;
    esac
    "$build/flashlab" mount "$work/device" "$work/mnt" --foreground "${options[@]}" > "$work/log" 2>&1 &
    daemon=$!
    for _ in $(seq 500); do mountpoint -q "$work/mnt" && break; sleep 0.02; done
    mkdir "$work/mnt/many"
    measured "$round" "$level" create "$files" "$build/live/many_files" "$work/mnt/many" "$files" create
    measured "$round" "$level" unlink "$files" "$build/live/many_files" "$work/mnt/many" "$files" remove
    measured "$round" "$level" "random write" 16384 write_4k
    measured "$round" "$level" "random read" 8192 read_4k
    fusermount3 -u "$work/mnt"
    wait "$daemon" || true
    daemon=
}
replay_times() { # REQUESTS LEVEL OPTIONS...: seconds by the clock, of the user, of the system
    local count=$1 level=$2 log=()
    shift 2
    rm -f "$work/log.db"
    [[ $level == none ]] || log=(--events "$work/log.db" --log "$level")
    TIMEFORMAT='%R %U %S'
    { time "$build/flashlab" bench --json --bs 4k --io-size "$((count * 4096))" --iodepth 16 "$@" "${log[@]}" > "$work/out" 2> /dev/null; } 2>&1
}
replay_round() { # ROUND LEVEL LOAD OPTIONS...
    local round=$1 level=$2 load=$3
    shift 3
    echo "$load;$round;$level $(replay_times 1 "$level" "$@") $(replay_times "$requests" "$level" "$@")" |
        awk -F ' ' -v n="$((requests - 1))" '{ k = NF - 5; head = $1; for (i = 2; i < k; ++i) head = head " " $i
            printf "%s;%.0f;%.0f;0\n", head, ($(k + 3) - $k) * 1e9 / n, ($(k + 4) + $(k + 5) - $(k + 1) - $(k + 2)) * 1e9 / n }' >> "$work/rounds"
}
mount_levels=() replay_levels=()
for level in none summary requests all use all+use; do
    [[ ,$wanted, == *,$level,* ]] || continue
    mount_levels+=("$level")
    [[ $level == *use ]] || replay_levels+=("$level")
done
for ((round = 0; round < rounds; ++round)); do
    for ((turn = 0; turn < ${#mount_levels[@]}; ++turn)); do
        [[ $only != *mount* ]] || mounted_round "$round" "${mount_levels[$(((round + turn) % ${#mount_levels[@]}))]}"
    done
    for ((turn = 0; turn < ${#replay_levels[@]}; ++turn)); do
        level=${replay_levels[$(((round + turn) % ${#replay_levels[@]}))]}
        [[ $only == *replay* ]] || continue
        replay_round "$round" "$level" "replay, random writes" --ftl page_map --size 1G --rw randwrite --precondition fill:90,random:1x
        replay_round "$round" "$level" "replay, half reads, no GC" --ftl page_map --size 8G --rw randrw
    done
done
python3 - "$work/rounds" << 'PYTHON'
import statistics, sys
figures = {}
for line in open(sys.argv[1]):
    load, turn, level, wall, serving, idle = line.strip().split(";")
    figures.setdefault(load, {}).setdefault(level, {})[turn] = (int(wall), int(serving), int(idle))
def against_none(levels, level, what):
    ratios = sorted(turn[what] / max(1, levels["none"][t][what]) for t, turn in levels[level].items())
    return "%.0f" % statistics.median(turn[what] for turn in levels[level].values()), "%.2f" % statistics.median(ratios), "%.2f-%.2f" % (ratios[0], ratios[-1])
row = "%-26s %-9s | %10s %8s %12s | %10s %8s %12s | %9s"
print(row % ("load", "log", "clock ns", "to none", "range", "CPU ns", "to none", "range", "writer ns"))
for load, levels in figures.items():
    for level, turns in levels.items():
        print(row % (load, level, *against_none(levels, level, 0), *against_none(levels, level, 1), "%.0f" % statistics.median(v[2] for v in turns.values())))
PYTHON
