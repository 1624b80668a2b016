#!/usr/bin/env bash
# SQL over what happened, asked while mounted and afterwards; the log's totals are the device's counters.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

ask() { "$FLASHLAB" query "$device" "$@" || die "query $*"; }

begin 1024
make_device --size 1G --ftl hftl
mount_device --log all
mkdir "$mnt/load" "$mnt/many"
"$FLASHLAB_LIVE_BIN/fill_and_overwrite" "$mnt/load" 10 0 1
"$FLASHLAB_LIVE_BIN/many_files" "$mnt/many" 500
"$FLASHLAB" ctl "$mnt" flush || die "ctl flush"
say "--- while mounted"
ask "SELECT * FROM v_waf_by_cause" --table
ask "SELECT * FROM v_latency_pct" --table
ask "SELECT * FROM v_channel_util" --table
[[ $(ask "SELECT total(blocks) FROM v_wear_hist" --csv | tail -n 1 | tr -d '\r') != 0.0 ]] || die "no erase counts while mounted"
[[ $(ask "SELECT total(valid_pages) FROM v_blocks" --csv | tail -n 1 | tr -d '\r') != 0.0 ]] || die "no valid pages while mounted"
[[ $(ask "SELECT count(*) FROM v_hit_ratios WHERE cache LIKE 'write buffer%'" --csv | tail -n 1 | tr -d '\r') == 0 ]] || die "hits of a write buffer that the drive does not have"
"$FLASHLAB" report "$mnt" -o "$work/page.html" || die "report of a mount"
unmount_device
say "--- afterwards"
"$FLASHLAB" query --schema > "$work/schema" && grep -q 'CREATE TABLE' "$work/schema" || die "query --schema"
"$FLASHLAB" query --views > "$work/views" && grep -q 'v_waf_by_cause' "$work/views" || die "query --views"
say "--- rows against counters"
for kind in read:page_reads program:page_programs erase:block_erases; do
    rows=$(ask "SELECT total(pages) FROM nand_op JOIN nand_op_name USING(op) WHERE name = '${kind%:*}'" --csv | tail -n 1)
    [[ $kind != erase:* ]] || rows=$(ask "SELECT count(*) FROM nand_op JOIN nand_op_name USING(op) WHERE name = 'erase'" --csv | tail -n 1)
    counted=$(ask "SELECT total(${kind#*:}) FROM v_run_totals JOIN sample_nand USING(sample)" --csv | tail -n 1)
    say "${kind%:*}: $rows in rows, $counted counted"
    [[ ${rows%.0} == "${counted%.0}" ]] || die "the log's rows are not the device's counters"
done
[[ $(ask "SELECT count(*) FROM nand_op JOIN nand_op_name USING(op) WHERE name = 'program'" --csv | tail -n 1) -gt 0 ]] || die "no program in the log"
code=0
"$FLASHLAB" query "$device" "SELECT nonsense FROM nowhere" > "$work/out" 2> "$work/err" || code=$?
[[ $code -ne 0 ]] && grep -q nowhere "$work/err" || die "a wrong query must say what is wrong"
say "ok: query"
