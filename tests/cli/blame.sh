#!/usr/bin/env bash
# What slow requests waited for: the parts add up to the latency to the nanosecond, and little is left unexplained; for every translation layer.
#
#   FLASHLAB=BINARY SCHEMES="A B ..." blame.sh
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}" "${SCHEMES:?translation layers}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-blame.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
ask_soon() { timeout 120 "$FLASHLAB" query "$@" --csv | tail -n +2 | tr -d '\r'; }
ask() { "$FLASHLAB" query "$@" --csv | tail -n +2 | tr -d '\r'; }

# Each part anew, computed in another way. With MUTANTS=1 the views are broken on purpose: some log must show each mistake.
here=$(cd "$(dirname "$0")" && pwd)
if [[ -n ${MUTANTS-} ]]; then
    command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
    small() { # NAME OPTIONS...
        local log=$work/small-$1.db
        shift
        "$FLASHLAB" bench --preset tiny "$@" --log all --events "$log" > "$work/out" 2>&1 || wrong "bench: $(cat "$work/out")"
        logs+=("$log")
    }
    logs=()
    small hftl --ftl hftl --rw randrw --rwmixread 40 --bs 6k --io-size 6M --iodepth 4 --precondition fill:60
    small link --ftl page_map --rw randrw --rwmixread 80 --bs 16k --io-size 8M --iodepth 64 --precondition fill:60 --set host_link.ps_per_byte=20000 \
        --set host_link.controller_request_ns=3000
    for scheme in dftl fast; do
        small "$scheme" --ftl "$scheme" --rw randrw --rwmixread 40 --bs 6k --io-size 6M --iodepth 4 --precondition fill:60
    done
    small die --ftl page_map --set nand.independent_planes=0 --rw randrw --bs 4k --io-size 4M --iodepth 8 --precondition fill:60
    small queues --ftl page_map --set host_link.slots=2 --set host_link.arbiter=round-robin --precondition fill:60 --queue rw=randread,iodepth=2 \
        --queue rw=randrw,iodepth=8 --io-size 4M
    python3 "$here/blame_judge.py" mutants "${logs[@]}" || wrong "the views that blame"
    [[ $failures -eq 0 ]] || exit 1
    echo "ok: blame, broken on purpose"
    exit 0
fi
for scheme in $SCHEMES; do
    log=$work/$scheme.db
    "$FLASHLAB" bench --preset tiny --ftl "$scheme" --rw randrw --rwmixread 40 --bs 6k --io-size 40M --iodepth 4 --precondition fill:60 --log all --events "$log" > "$work/out" 2>&1 ||
        { wrong "$scheme: $(cat "$work/out")"; continue; }
    requests=$(ask "$log" "SELECT count(*) FROM host_request")
    slow=$(ask "$log" "SELECT count(DISTINCT id) FROM v_blame_part")
    [[ $slow -eq $(((requests + 999) / 1000)) ]] || wrong "$scheme: $slow slow ones of $requests requests"
    # The slowest ones, and no other.
    faster=$(ask "$log" "SELECT count(*) FROM host_request WHERE dur_ns > (SELECT min(dur_ns) FROM v_blame_part) AND id NOT IN (SELECT id FROM v_blame_part)")
    [[ $faster -eq 0 ]] || wrong "$scheme: $faster slower requests are not blamed"
    apart=$(ask "$log" "SELECT count(*) FROM (SELECT p.id, sum(p.ns) AS ns, h.dur_ns FROM v_blame_part p JOIN host_request h USING(id) GROUP BY p.id) WHERE ns <> dur_ns")
    [[ $apart -eq 0 ]] || wrong "$scheme: the parts of $apart requests do not add up to their latency"
    negative=$(ask "$log" "SELECT count(*) FROM v_blame_part WHERE ns <= 0")
    [[ $negative -eq 0 ]] || wrong "$scheme: $negative parts are not positive"
    wide=$(ask "$log" "SELECT count(*) FROM v_blame_request WHERE queue_ns + host_link_ns + bus_ns + flash_ns + mapping_ns + pram_ns + chip_requests_ns + chip_collection_ns + chip_merge_ns
        + chip_map_ns + chip_other_ns + bus_others_ns + collection_ns + order_ns + rest_ns + submission_queue_ns <> dur_ns")
    [[ $wide -eq 0 ]] || wrong "$scheme: $wide rows of v_blame_request do not add up"
    shares=$(ask "$log" "SELECT round(sum(share), 4), round(coalesce(max(share) FILTER (WHERE what = 'rest'), 0) * 100, 2), max(what) FILTER (WHERE ns = (SELECT max(ns) FROM v_blame)) FROM v_blame")
    IFS=, read -r sum rest most <<< "$shares"
    [[ $sum == 1 || $sum == 1.0 ]] || wrong "$scheme: the shares add up to $sum"
    printf '%-10s %6d requests, %3d slow, mostly: %s; not explained: %s %%\n' "$scheme" "$requests" "$slow" "$most" "$rest"
    [[ ${rest%.*} -le 5 ]] || wrong "$scheme: $rest % of the slow requests' time is not explained"
    command -v python3 > /dev/null || continue
    python3 "$here/blame_judge.py" judge "$log" || wrong "$scheme: its parts are others when they are computed in another way"
done

# One operation that waited in a queue for seconds once made each look for neighbours a look at a tenth of the log.
"$FLASHLAB" bench --size 64M --ftl fast --rw randwrite --bs 4k --io-size 16M --precondition fill:60 --log all --events "$work/late.db" > "$work/out" 2>&1 ||
    wrong "late: $(cat "$work/out")"
! command -v python3 > /dev/null || python3 "$here/blame_judge.py" growth "$work/late.db" || wrong "the time of the views hangs on the longest operation"

# A request alone on an idle drive: its link, its bus, its cells and nothing else, to the nanosecond of the configuration.
"$FLASHLAB" bench --preset tiny --ftl page_map --rw write --bs 4k --io-size 4k --log all --events "$work/one.db" > /dev/null 2>&1 || wrong "one request"
parts=$(ask "$work/one.db" "SELECT group_concat(what, ' ') FROM (SELECT what FROM v_blame_part ORDER BY class)")
[[ $parts == "host link bus flash" ]] || wrong "one request on an idle drive waited for: $parts"
cells=$(ask "$work/one.db" "SELECT ns = (SELECT cells_ns FROM nand_op WHERE parent = p.id) FROM v_blame_part p WHERE what = 'flash'")
[[ $cells == 1 ]] || wrong "its cells worked for another time than its program took"
# Two at once for one plane. The second waits for the link while the first has it (1000 ns and 4096 bytes at 4 GB/s: 2024 ns), then for the plane until the
# first is programmed (2024 + 3512 on the bus + 200000 in the cells, less its own 4048 until it is there).
"$FLASHLAB" bench --preset tiny --ftl page_map --set nand.channels=1 --set nand.planes_per_die=1 --set nand.blocks_per_plane=64 --rw write --bs 4k --io-size 8k --iodepth 2 --log all \
    --events "$work/two.db" > /dev/null 2>&1 || wrong "two requests"
parts=$(ask "$work/two.db" "SELECT group_concat(what || ' ' || ns, ', ') FROM (SELECT what, ns FROM v_blame_part ORDER BY class)")
[[ $parts == '"queue 2024, host link 2024, bus 3512, flash 200000, chip: other requests 201488"' ]] || wrong "of two requests the second waited for: $parts"
# Commands of two queues for one slot: the wait until the fetch is a part of its own, and the judge finds the same.
"$FLASHLAB" bench --preset tiny --ftl page_map --precondition fill:60 --set host_link.slots=1 --set host_link.arbiter=round-robin --queue rw=randread,iodepth=1 \
    --queue rw=randrw,iodepth=8 --io-size 4M --log all --events "$work/queues.db" > /dev/null 2>&1 || wrong "two queues"
[[ $(ask "$work/queues.db" "SELECT what FROM v_blame LIMIT 1") == "submission queue" ]] || wrong "eight commands for one slot did not wait for it"
[[ $(ask "$work/queues.db" "SELECT count(DISTINCT queue), min(waited_ns) >= 0, max(waited_ns) > 0 FROM host_request") == 2,1,1 ]] || wrong "the log knows no queues"
! command -v python3 > /dev/null || python3 "$here/blame_judge.py" judge "$work/queues.db" || wrong "two queues: their parts are others when they are computed in another way"
# Without the level all the parts still add up.
# In time, too: without operations a gap was once walked through nanosecond by nanosecond.
"$FLASHLAB" bench --preset tiny --ftl fast --rw randwrite --bs 4k --io-size 12M --iodepth 64 --log requests --events "$work/requests.db" > /dev/null 2>&1 || wrong "level requests"
apart=$(ask_soon "$work/requests.db" "SELECT count(*) FROM (SELECT sum(ns) AS ns, dur_ns FROM v_blame_part GROUP BY id) WHERE ns <> dur_ns")
[[ $apart -eq 0 ]] || wrong "level requests: $apart do not add up"

[[ $failures -eq 0 ]] || exit 1
echo "ok: blame"
