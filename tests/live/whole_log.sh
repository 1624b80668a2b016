#!/usr/bin/env bash
# git, SQLite and IOZone (fio where there is no IOZone) on one mount at level all: nothing is lost, the rows of the log are the drive's counters, and a report
# and a timeline are made of it. Prints sizes and seconds.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"

begin "$(scaled 1024 8192)"
for tool in sqlite3 python3; do command -v $tool > /dev/null || skip "$tool is not installed"; done
ask() { "$FLASHLAB" query "$device" "$1" --csv | tail -n +2 | tr -d '\r"'; }
took() { # WHAT COMMAND...
    local what=$1 start
    shift
    start=$(now_ms)
    "$@" || die "$what: $(tail -n 3 "$work/out" 2> /dev/null)"
    say "$what: $(($(now_ms) - start)) ms"
}
iozone_or_fio() {
    if command -v iozone > /dev/null; then load_iozone "$1"; else load_fio "$1"; fi
}
make_device --size "$(scaled 256M 2G)" --set nand.channels=4
mount_device --log all --log-keep 16G -o use
mkdir "$mnt/git" "$mnt/sqlite" "$mnt/bench"
took "git" load_git "$mnt/git"
took "SQLite" load_sqlite_wal "$mnt/sqlite"
took "$(command -v iozone > /dev/null && echo IOZone || echo fio)" iozone_or_fio "$mnt/bench"
"$FLASHLAB" ctl "$mnt" flush > /dev/null || die "flush"
unmount_device
say "$(stat -c %s "$device/events.db") bytes of log: $(ask "SELECT count(*) || ' calls, ' || (SELECT count(*) FROM host_request) || ' requests, ' || (SELECT count(*) FROM nand_op) || ' rows of operations' FROM fs_op")"
[[ $(ask "SELECT sum(rows_dropped) FROM run") == 0 ]] || die "rows were dropped"
# Of the rows, of the last sample, and of smart, which adds up over all mounts.
rows=$(ask "SELECT coalesce(sum(pages * (op = 0)), 0) || ' ' || coalesce(sum(pages * (op = 1)), 0) || ' ' || coalesce(sum(op = 2), 0) FROM nand_op")
counted=$(ask "SELECT sum(page_reads) || ' ' || sum(page_programs) || ' ' || sum(block_erases) FROM v_run_totals JOIN sample_nand USING(sample)")
[[ $rows == "$counted" ]] || die "reads, programs, erases: the rows say $rows, the counters $counted"
by_cause=$(ask "SELECT count(*) FROM (SELECT cause, sum(pages * (op = 1)) AS p, sum(pages * (op = 0)) AS r FROM nand_op GROUP BY cause) JOIN (SELECT cause, sum(page_programs) AS q, sum(page_reads) AS s FROM v_run_totals JOIN sample_nand USING(sample) GROUP BY cause) USING(cause) WHERE p <> q OR r <> s")
[[ $by_cause == 0 ]] || die "$by_cause causes have other counts in rows and counters"
requests=$(ask "SELECT sum(op = 0) || ' ' || sum(op = 1) || ' ' || sum((op = 1) * sectors * 512) FROM host_request")
told=$(ask "SELECT sum(host_reads) || ' ' || sum(host_writes) || ' ' || sum(host_write_bytes) FROM v_run_totals")
[[ $requests == "$told" ]] || die "requests and bytes: the rows say $requests, the counters $told"
"$FLASHLAB" smart "$device" --json > "$work/smart" || die "smart"
[[ $(sed 's/.*"nand_erase_blocks":\([0-9]*\).*/\1/' "$work/smart") == "${rows##* }" ]] || die "erases of smart are not ${rows##* }"
say "the rows are the counters: $rows pages read, programmed, blocks erased; $requests requests read, written, bytes"
apart=$(ask "SELECT count(*) FROM (SELECT sum(ns) AS ns, dur_ns FROM v_blame_part GROUP BY id) WHERE ns <> dur_ns")
[[ $apart == 0 ]] || die "the blame of $apart requests does not add up"
report() { "$FLASHLAB" report "$device" -o "$work/report.html" > "$work/out" 2>&1; }
# A second around the request in the middle of the log.
at=$(ask "SELECT ts_ns - (SELECT start_ns FROM run ORDER BY run DESC LIMIT 1) FROM host_request ORDER BY id LIMIT 1 OFFSET (SELECT count(*) / 2 FROM host_request)")
timeline() { "$FLASHLAB" export "$device" --perfetto "$work/timeline.json" --from "$((at > 500000000 ? at - 500000000 : 0))ns" --to "$((at + 500000000))ns" > "$work/out" 2>&1; }
took "report" report
say "report: $(stat -c %s "$work/report.html") bytes, $(sed -n 's|.*<script id="data" type="application/json">||p' "$work/report.html" | sed 's|</script>.*||' | wc -c) of them data"
took "timeline" timeline
say "timeline: $(cat "$work/out")"
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) > 100' "$work/timeline.json" || die "the timeline is no JSON"
check_device
say "ok: whole_log"
