#!/usr/bin/env bash
# Is one build faster than another? Runs both in turn, round after round, and prints for each row the CPU seconds (user and system) of each and how many
# times faster the new one is; the least of the rounds. A rate is of the requests alone: the same command with a single request is taken off.
#
#   bash tools/bench_speed.sh OLD NEW [--rounds N] [--only PATTERN] [--traces DIR]      OLD, NEW: two flashlab binaries
#   defaults: 5 rounds, all rows; with DIR also those of MQSim's traces (tpcc-small.mqsim.gz, websearch1-first60s.mqsim.gz)
#
# Figures of different runs say nothing; on a shared machine a ratio is right to a twentieth or so. docs/performance.md has a run of it.
set -euo pipefail
(($# >= 2)) || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
old=$(realpath "$1") new=$(realpath "$2") rounds=5 only=. traces=
shift 2
while (($#)); do
    case $1 in
    --rounds) rounds=$2 ;;
    --only) only=$2 ;;
    --traces) traces=$(realpath "$2") ;;
    *) echo "bench_speed: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-bench-speed.XXXXXX")
trap 'rm -rf "$work"' EXIT
cpu() { # COMMAND...: its CPU seconds
    local TIMEFORMAT='%U %S'
    { time "$@" > "$work/out" 2> "$work/err"; } 2> "$work/time" || { cat "$work/err" >&2 && return 1; }
    awk '{ print $1 + $2 }' "$work/time"
}
# NAME REQUESTS ARGUMENTS...: "@" among the arguments is the number of requests, as bytes. REQUESTS 0: the whole process counts.
row() {
    local name=$1 requests=$2 round which binary
    shift 2
    [[ $name =~ $only ]] || return 0
    rm -f "$work"/old "$work"/new
    for ((round = 0; round < rounds; ++round)); do
        for which in old new; do
            binary=${!which}
            if ((requests == 0)); then
                cpu "$binary" "$@" >> "$work/$which"
            else
                echo "$(cpu "$binary" "${@/@/$((requests * 4096))}") $(cpu "$binary" "${@/@/4096}")" | awk '{ print $1 - $2 }' >> "$work/$which"
            fi
        done
    done
    paste <(sort -n "$work/old" | head -n 1) <(sort -n "$work/new" | head -n 1) | awk -v name="$name" -v n="$requests" '
        function shown(s) { return n == 0 ? sprintf("%.3f s", s) : sprintf("%.0f k/s", n / s / 1000) }
        { if ($1 <= 0) $1 = 0.0005; if ($2 <= 0) $2 = 0.0005; printf "| %s | %s | %s | %.2f |\n", name, shown($1), shown($2), $1 / $2 }'
}
echo '| row | old | new | times faster |'
echo '|---|---|---|---|'
one=(--bs 4k --io-size 4k --iodepth 1 --rw randread --json)
row 'start: --version' 0 --version
row 'bench of one request, 1 GiB' 0 bench "${one[@]}"
for ftl in page_map hftl dftl; do row "one request on 1 TiB, $ftl" 0 bench --ftl $ftl --size 1T "${one[@]}"; done
row 'fill of 16 GiB, 8 dies' 0 bench --ftl page_map --size 16G --precondition fill:90 "${one[@]}"
row 'fill of 16 GiB, 256 dies' 0 bench --ftl page_map --size 16G --set nand.channels=16 --set nand.chips_per_channel=16 --precondition fill:90 "${one[@]}"
steady=(--size 2G --precondition fill:100,random:1x --rw randwrite --bs 4k --iodepth 32 --io-size @ --json)
for ftl in page_map hftl dftl fast; do row "random writes, $ftl" 400000 bench --ftl $ftl "${steady[@]}"; done
row 'random writes, log_block' 100000 bench --ftl log_block "${steady[@]}"
row 'random writes, coftl' 20000 bench --ftl coftl "${steady[@]}"
row 'half reads, page_map' 400000 bench --ftl page_map "${steady[@]/randwrite/randrw}"
row 'random writes, the default drive' 200000 bench "${steady[@]}"
row 'random writes, page_map, log at requests' 400000 bench --ftl page_map "${steady[@]}" --events "$work/events.db" --event-level requests
for trace in tpcc-small websearch1-first60s; do
    [[ -z $traces ]] || row "trace $trace, whole process" 0 replay "$traces/$trace.mqsim.gz" --ftl page_map --size 16G --wrap --precondition fill:90 --json
done
