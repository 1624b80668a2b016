#!/usr/bin/env bash
# Every reference trace on every scheme, twice: the same bytes both times, every request and byte counted as the folder's manifest says, every invariant
# of the drive intact at the end (replay's exit code). `beginnings`: the first requests of each trace, with --limit; `whole`: all of each, cheapest pair first.
#
#   FLASHLAB=build/release/flashlab bash tests/cli/replay_traces.sh whole ../shared/traces [PATTERN of traces] [SCHEME…]
#
#   REPLAY_DONE=FILE    a line for each pair seen to be true, with its seconds and the hash of its report; pairs in it are not run again
#   REPLAY_SECONDS=N    a replay that takes longer is given up, and told as such: not seen
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
part=${1:?beginnings or whole}
traces=${2:?folder of traces}
pattern=${3:-*}
schemes=("${@:4}")
[[ ${#schemes[@]} -gt 0 ]] || mapfile -t schemes < <("$FLASHLAB" info --keys --json | grep -o '"key":"ftl.scheme"[^}]*' | sed 's/.*"allowed":"\([^"]*\)".*/\1/; s/, /\n/g')
[[ ${#schemes[@]} -gt 0 ]] || { echo "info --keys names no schemes"; exit 1; }
manifest=$traces/manifest.json
[[ -f $manifest ]] || { echo "skipped: no $manifest"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-replay.XXXXXX")
trap 'rm -rf "$work"' EXIT
done_file=${REPLAY_DONE:-$work/done}
touch "$done_file"
failures=0 runs=0 unseen=0 seen=0
wrong() { printf 'WRONG: %s\n' "$*" >&2; failures=$((failures + 1)); }

tr -d '\n' < "$manifest" | sed -E 's/"other": *\{[^}]*\}/"other": 0/g' | grep -oE '"[^"]+": *\{[^{}]*\}' > "$work/manifest"
# number FILE KEY: of the trace's object in the manifest.
number() { grep -F "\"$1\":" "$work/manifest" | grep -oE "\"$2\": *[0-9]+" | grep -oE '[0-9]+$' || echo 0; }
field() { grep -oE "\"$2\":[0-9]+" "$1" | head -n 1 | grep -oE '[0-9]+$'; }
without_clock() { sed -E 's/"(wall_seconds|requests_per_wall_second|peak_rss_bytes)":[^,]*,//g; s/"trace":"[^"]*",//' "$1"; }

# cost TRACE SCHEME: for the order only. Pages that move; a scheme that copies whole blocks moves many for each write.
cost() {
    local copies
    case $2 in
    block_map) copies=100 ;;
    fast | log_block) copies=10 ;;
    coftl) copies=3 ;;
    *) copies=1 ;;
    esac
    echo $(($(number "$1" requests) + ($(number "$1" read_bytes) + $(number "$1" write_bytes)) / 4096 + $(number "$1" writes) * copies))
}

# What a trace needs that its lines do not say: in this one a unit is a page of the database, not a sector.
reading() {
    case $1 in
    arc-OLTP*) echo --columns off:4096=1,len:4096=2 --separator blanks ;;
    esac
}

check() { # TRACE SCHEME
    local name=$1 scheme=$2 size limit=() turn started=$SECONDS status as
    read -ra as <<< "$(reading "$name")"
    size=$((($(number "$name" pages4k) * 4096 / 1048576) * 5 / 4 + 1024))
    if [[ $part == beginnings ]]; then
        limit=(--limit 300)
        size=1024
    fi
    for turn in 1 2; do
        runs=$((runs + 1))
        status=0
        timeout "${REPLAY_SECONDS:-0}" "$FLASHLAB" replay "$traces/$name" --ftl "$scheme" --size "${size}M" --compact --json "${as[@]}" "${limit[@]}" > "$work/$turn" 2> "$work/err" ||
            status=$?
        if [[ $status == 124 ]]; then
            printf 'not seen: %s on %s takes more than %s s\n' "$name" "$scheme" "$REPLAY_SECONDS"
            unseen=$((unseen + 1))
            return
        fi
        ((status == 0)) || { wrong "$name on $scheme: exit code $status: $(head -n 2 "$work/err")"; return; }
        [[ $part == whole || $turn == 2 || $scheme == hftl ]] || return 0 # two runs are compared for one scheme
    done
    [[ $(without_clock "$work/1") == "$(without_clock "$work/2")" ]] || { wrong "$name on $scheme: two runs differ"; return; }
    [[ $part == whole ]] || return 0
    local row key before=$failures
    for row in reads:reads writes:writes host_read_bytes:read_bytes host_write_bytes:write_bytes; do
        key=${row%:*}
        [[ $(field "$work/1" "$key") == "$(number "$name" "${row#*:}")" ]] || wrong "$name on $scheme: $key is $(field "$work/1" "$key"), the manifest says $(number "$name" "${row#*:}")"
    done
    ((failures == before)) || return 0
    seen=$((seen + 1))
    printf '%s %s %s requests, %s s twice, report %s\n' "$name" "$scheme" "$(field "$work/1" requests)" "$((SECONDS - started))" \
        "$(without_clock "$work/1" | sha256sum | cut -c 1-16)" | tee -a "$done_file"
}

for path in "$traces"/*; do
    name=${path##*/}
    # shellcheck disable=SC2053 # a pattern is meant
    [[ $name != README.md && $name != manifest.json && $name == $pattern ]] || continue
    [[ $(number "$name" requests) -gt 0 ]] || { wrong "$name is not in the manifest"; continue; }
    for scheme in "${schemes[@]}"; do echo "$(cost "$name" "$scheme") $name $scheme"; done
done > "$work/pairs"
sort -n "$work/pairs" > "$work/sorted"
while read -r _ name scheme; do
    if grep -q "^$name $scheme " "$done_file"; then
        seen=$((seen + 1))
    else
        check "$name" "$scheme"
    fi
done < "$work/sorted"
[[ -s $work/sorted ]] || wrong "no trace matches $pattern"
[[ $part == beginnings ]] || echo "$seen of $(wc -l < "$work/sorted") pairs were seen whole, twice"
((failures == 0 && unseen == 0)) || exit 1
echo "ok: $runs replays"
