#!/usr/bin/env bash
# A long replay at level all: the rows of the log are the counters of the replay, and a report and a timeline are made of it. Prints sizes and seconds.
#
#   FLASHLAB=BINARY [REQUESTS=10000000] replay_log.sh
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
requests=${REQUESTS:-10000000}
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-replay-log.XXXXXX")
trap 'rm -rf "$work"' EXIT
needed_mib=$((requests / 2500 + 100))
[[ $(df -Pm "$work" | awk 'NR == 2 { print $4 }') -ge $needed_mib ]] || { echo "skipped: $needed_mib MiB are wanted in $work"; exit 77; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
took() { # WHAT COMMAND...
    local what=$1 code=0
    shift
    TIMEFORMAT="$what: %U s of a processor, %R s by the clock"
    time "$@" || code=$?
    [[ $code -eq 0 ]] || die "$what: code $code: $(tail -n 3 "$work/err")"
}
ask() { "$FLASHLAB" query "$work/log.db" "$1" --csv | tail -n +2 | tr -d '\r"'; }
value() { grep -o "\"$1\":[0-9]*" "$work/out.json" | head -n 1 | tr -dc 0-9; }
# Requests of a page, half of them reads, a few pages hot.
trace() { awk -v n="$requests" 'BEGIN { srand(7); for (i = 0; i < n; ++i) { x = rand(); printf "0,%d,4096,%s,%.6f\n", int(x * x * x * 400000) * 8, rand() < 0.5 ? "r" : "w", i / 20000 } }'; }
replay() {
    trace | "$FLASHLAB" replay - --format spc --ftl page_map --size 4G --speed closed:16 --log all --events "$work/log.db" --json \
        > "$work/out.json" 2> "$work/err"
}
report() { "$FLASHLAB" report "$work/log.db" -o "$work/report.html" > "$work/said" 2> "$work/err"; }
timeline() { "$FLASHLAB" export "$work/log.db" --perfetto "$work/timeline.json" --from 50ms --to 250ms > "$work/said" 2> "$work/err"; }
took "replay of $requests requests" replay
echo "log: $(stat -c %s "$work/log.db") bytes, $(ask "SELECT count(*) || ' requests, ' || (SELECT count(*) FROM nand_op) || ' rows of operations' FROM host_request")"
[[ $(value requests) == "$requests" ]] || die "$(value requests) requests were served"
rows=$(ask "SELECT coalesce(sum(pages * (op = 0)), 0) || ' ' || coalesce(sum(pages * (op = 1)), 0) || ' ' || coalesce(sum(op = 2), 0) FROM nand_op")
counted="$(value nand_read_pages) $(value nand_program_pages) $(value nand_erase_blocks)"
[[ $rows == "$counted" ]] || die "reads, programs, erases: the rows say $rows, the replay $counted"
told=$(ask "SELECT sum((op = 0) * sectors * 512) || ' ' || sum((op = 1) * sectors * 512) FROM host_request")
[[ $told == "$(value host_read_bytes) $(value host_write_bytes)" ]] || die "bytes read and written: the rows say $told, the replay $(value host_read_bytes) $(value host_write_bytes)"
echo "the rows are the counters: $rows pages read, programmed, blocks erased"
took "report" report
echo "report: $(stat -c %s "$work/report.html") bytes"
took "timeline of 0.2 s" timeline
cat "$work/said"
echo "ok: replay_log"
