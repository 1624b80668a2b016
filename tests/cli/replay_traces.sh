#!/usr/bin/env bash
# Every reference trace on every scheme, twice: the same bytes both times, every request counted as the folder's manifest says, every invariant of the
# drive intact at the end (replay's exit code). `beginnings`: the first requests of each trace, with --limit; `whole`: all of each.
#
#   FLASHLAB=build/release/flashlab bash tests/cli/replay_traces.sh whole ../shared/traces [PATTERN of traces] [SCHEME…]
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
part=${1:?beginnings or whole}
traces=${2:?folder of traces}
pattern=${3:-*}
schemes=("${@:4}")
[[ ${#schemes[@]} -gt 0 ]] || schemes=(page_map dftl hftl log_block fast block_map coftl)
manifest=$traces/manifest.json
[[ -f $manifest ]] || { echo "skipped: no $manifest"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-replay.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0 runs=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }

# number FILE KEY: of the trace's object in the manifest.
number() {
    tr -d '\n' < "$manifest" | sed -E 's/"other": *\{[^}]*\}/"other": 0/g' | grep -oE "\"$1\": *\{[^{}]*\}" | grep -oE "\"$2\": *[0-9]+" | grep -oE '[0-9]+$' || echo 0
}
field() { grep -oE "\"$2\":[0-9]+" "$1" | head -n 1 | grep -oE '[0-9]+$'; }
without_clock() { sed -E 's/"(wall_seconds|requests_per_wall_second|peak_rss_bytes)":[^,]*,//g' "$1"; }

check() { # TRACE SCHEME
    local name=$1 scheme=$2 size limit=() turn
    size=$((($(number "$name" pages4k) * 4096 / 1048576) * 5 / 4 + 1024))
    if [[ $part == beginnings ]]; then
        limit=(--limit 300)
        size=1024
    fi
    for turn in 1 2; do
        runs=$((runs + 1))
        "$FLASHLAB" replay "$traces/$name" --ftl "$scheme" --size "${size}M" --compact --json "${limit[@]}" > "$work/$turn" 2> "$work/err" ||
            { wrong "$name on $scheme: exit code $?: $(head -n 2 "$work/err")"; return; }
        [[ $part == whole || $turn == 2 || $scheme == hftl ]] || return 0 # two runs are compared for one scheme
    done
    [[ $(without_clock "$work/1") == "$(without_clock "$work/2")" ]] || wrong "$name on $scheme: two runs differ"
    [[ $part == whole ]] || return 0
    local key
    for key in reads writes; do
        [[ $(field "$work/1" "$key") == "$(number "$name" "$key")" ]] || wrong "$name on $scheme: $(field "$work/1" "$key") $key, the manifest says $(number "$name" "$key")"
    done
    printf '%s on %s: %s requests\n' "$name" "$scheme" "$(field "$work/1" requests)"
}

for path in "$traces"/*; do
    name=${path##*/}
    # shellcheck disable=SC2053 # a pattern is meant
    [[ $name != README.md && $name != manifest.json && $name == $pattern ]] || continue
    [[ $(number "$name" requests) -gt 0 ]] || { wrong "$name is not in the manifest"; continue; }
    for scheme in "${schemes[@]}"; do check "$name" "$scheme"; done
done
[[ $runs -gt 0 ]] || wrong "no trace matches $pattern"
((failures == 0)) || exit 1
echo "ok: $runs replays"
