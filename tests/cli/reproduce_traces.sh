#!/usr/bin/env bash
# The comparisons of all translation layers, and of the maps on flash, on the reference traces, where they are: each real trace is played, on every layer and cell, and said to be a file.
#
#   FLASHLAB=build/release/flashlab bash tests/cli/reproduce_traces.sh ../shared/traces
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
traces=${1:?folder of traces}
[[ -f $traces/manifest.json ]] || { echo "skipped: no $traces/manifest.json"; exit 77; }
six=$(mktemp -d)
trap 'rm -rf "$six"' EXIT
for file in financial1-first10k.ssdsim.gz tpcc-small.mqsim.gz hplajw-1week.srt.gz cloudphysics-113872.vscsi.gz win11-boot.wpa.csv.gz mobile-telegram-exec-first150k.csv.gz; do
    ln -s "$(realpath "$traces/$file")" "$six"
done
out=$("$FLASHLAB" reproduce beyond-ftls --quick --json --traces "$six")
wrong() { printf 'WRONG: %s\n' "$*" >&2; exit 1; }
for name in financial1 tpcc-small hplajw cloudphysics win11-boot telegram; do
    grep -q "{\"name\":\"$name\",\"source\":\"the file $six/" <<< "$out" || wrong "$name is not among the loads"
    for unit in requests/s 'p99 ms' 'write amplification' 'erased blocks' 'DRAM of its maps, KiB' 'start after a kill, ms'; do
        points=$(grep -oF ", $unit ($name)\"" <<< "$out" | wc -l)
        expected=7 # layers; and cells
        [[ $unit != requests/s && $unit != 'p99 ms' ]] || expected=28
        [[ $points == "$expected" ]] || wrong "$points points of $unit for $name, not $expected"
    done
done
! grep -q generated: <<< "$out" || wrong "a generated load is among them"
out=$("$FLASHLAB" reproduce beyond-maps --quick --json --traces "$six")
for name in financial1 tpcc-small hplajw cloudphysics win11-boot telegram; do
    grep -q "{\"name\":\"$name\",\"source\":\"the file $six/" <<< "$out" || wrong "$name is not among the loads of beyond-maps"
    points=$(grep -oF "{\"series\":\"$name: " <<< "$out" | grep -c .)
    [[ $points -gt 100 ]] || wrong "$points points for $name, where each map has eight at each DRAM"
done
! grep -qF "random reads, written" <<< "$out" || wrong "a generated load is played by beyond-maps beside the traces"
echo "ok"
