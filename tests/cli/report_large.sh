#!/usr/bin/env bash
# The report of a long log: its processor time grows as the rows do, and its page does not grow. Prints rows, seconds and bytes.
#
#   FLASHLAB=BINARY [ROWS=1000000] [SCHEMES="page_map fast"] report_large.sh
#
# A log of about ROWS rows is held against one of a quarter. A page map's rows are requests and pages, a log block layer's are copies of merges.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-report-large.XXXXXX")
trap 'rm -rf "$work"' EXIT
needed_mib=$((${ROWS:-1000000} / 8000 + 100))
[[ $(df -Pm "$work" | awk 'NR == 2 { print $4 }') -ge $needed_mib ]] || { echo "skipped: $needed_mib MiB are wanted in $work"; exit 77; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
report() { # SCHEME MIB: sets rows, ms and bytes
    "$FLASHLAB" bench --ftl "$1" --size 256M --rw randrw --bs 4k --io-size "$2M" --iodepth 8 --precondition fill:90 --log all --events "$work/log.db" \
        > "$work/out" 2> "$work/err" || die "bench: $(tail -n 1 "$work/err")"
    rows=$("$FLASHLAB" query "$work/log.db" "SELECT (SELECT count(*) FROM nand_op) + (SELECT count(*) FROM host_request)" --csv | tail -n 1 | tr -dc 0-9)
    local TIMEFORMAT=%U
    ms=$({ time "$FLASHLAB" report "$work/log.db" -o "$work/page.html" > "$work/out" 2> "$work/err"; } 2>&1 | tail -n 1 | awk '{ print int($1 * 1000) }')
    bytes=$(stat -c %s "$work/page.html") || die "report: $(tail -n 1 "$work/err")"
    rm "$work/log.db" "$work/page.html"
    echo "$1: $rows rows, report in $ms ms of a processor, $bytes bytes"
    [[ $bytes -le $((300 * 1024)) ]] || die "$1: the page has $bytes bytes"
}
for scheme in ${SCHEMES:-page_map fast}; do
    case $scheme in page_map | dftl | tpftl | sftl | leaftl | learnedftl | hftl) mib=$((${ROWS:-1000000} / 1600)) ;; *) mib=$((${ROWS:-1000000} / 15000)) ;; esac
    report "$scheme" $((mib / 4))
    few=$rows short=$ms
    report "$scheme" "$mib"
    # Half as much again for a row, and a tenth of a second for what is made once.
    [[ $((ms * few)) -le $(((short * 3 / 2 + 100) * rows)) ]] || die "$scheme: $few rows take $short ms, $rows rows $ms ms"
done
echo "ok: report_large"
