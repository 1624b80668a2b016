#!/usr/bin/env bash
# top, smart, Prometheus and ctl use on a live mount: rates are differences of the counters, and a terminal of 80 x 24 is enough.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
ask() { sqlite3 :memory: "WITH f(doc) AS (SELECT CAST(readfile('$work/$1') AS TEXT)) SELECT $2 FROM f${3:+, $3}"; }
make_device --size 128M --ftl page_map --set dram.write_buffer_bytes=1M
mount_device -o use
"$FLASHLAB" top "$mnt" --json --samples 4 --interval 0.4 > "$work/samples" 2> "$work/err" &
top=$!
dd if=/dev/zero of="$mnt/f" bs=64k count=320 conv=fsync status=none
wait $top || die "top --json: $(cat "$work/err")"
[[ $(wc -l < "$work/samples") -eq 4 ]] || die "four samples: $(cat "$work/samples")"
sed 's/$/,/; 1s/^/[/; $s/,$/]/' "$work/samples" > "$work/array"
[[ $(ask array "json_valid(doc)") == 1 ]] || die "a line is no JSON object"
for key in read_iops write_iops read_mb_s write_mb_s waf_since_mount queue latency_us channel_busy free_blocks wear write_buffer_pages; do
    [[ -n $(ask array "doc -> '\$[3].$key'") ]] || die "no $key: $(tail -n 1 "$work/samples")"
done
[[ $(ask array "min(s.value ->> '$.write_mb_s') >= 0 AND max(b.value) <= 1" "json_each(doc) s, json_each(s.value, '$.channel_busy') b") == 1 ]] || die "a rate is negative, or a channel busier than the time"
[[ $(ask array "count(DISTINCT s.value ->> '$.sample')" "json_each(doc) s") == 4 ]] || die "samples are numbered"
say "--- a terminal of 80 x 24"
if command -v script > /dev/null; then
    TERM=xterm timeout 30 script -qec "stty rows 24 cols 80; '$FLASHLAB' top '$mnt' --samples 2 --interval 0.3" "$work/screen" < /dev/null > /dev/null || die "top on a terminal ended with $?"
    grep -q 'flashlab top' "$work/screen" && grep -q 'IOPS' "$work/screen" && grep -q 'ch0' "$work/screen" && grep -q 'wear' "$work/screen" || die "the screen: $(cat "$work/screen")"
fi
if command -v script > /dev/null; then
    TERM=nonsense timeout 30 script -qec "'$FLASHLAB' top '$mnt' --samples 1" "$work/screen" < /dev/null > /dev/null && die "a terminal that nobody knows"
    grep -q 'set TERM' "$work/screen" || die "the remedy: $(cat "$work/screen")"
fi
code=0
"$FLASHLAB" top "$mnt" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 2 ]] || die "top without a terminal: $code"
"$FLASHLAB" top "$mnt" --json --interval 3600 > "$work/out" &
top=$!
sleep 0.3
kill -INT $top
code=0
wait $top || code=$?
[[ $code -eq 130 ]] || die "top by INT ends with $code"

say "--- Prometheus"
"$FLASHLAB" ctl "$mnt" stats --prometheus > "$work/metrics" || die "--prometheus"
grep -Ev '^(# (HELP|TYPE) flashlab_[a-z_]+ .+|flashlab_[a-z_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} -?[0-9.e+-]+)$' "$work/metrics" && die "a line that Prometheus cannot read"
[[ -z $(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$work/metrics" | sort | uniq -d) ]] || die "a metric stands twice"
counted=$("$FLASHLAB" ctl "$mnt" stats --json | sed 's/.*"host_write_bytes":\([0-9]*\).*/\1/')
grep -q "^flashlab_host_written_bytes_total{.*} $counted\$" "$work/metrics" || die "host bytes are not $counted: $(grep host_written "$work/metrics")"

say "--- what a file says of itself"
attribute() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.flashlab." + sys.argv[2]).decode())' "$mnt/f" "$1"; }
if command -v python3 > /dev/null; then
    [[ $(attribute pages) -eq $((20971520 / $("$FLASHLAB" info "$mnt" --json | sed 's/.*"atomic_unit_bytes":\([0-9]*\).*/\1/'))) ]] || die "pages: $(attribute pages)"
    [[ $(attribute write_bytes) == 20971520 && $(attribute host_write_bytes) == 20971520 && $(attribute heat) == 1.00 ]] || die "write_bytes, heat: $(attribute heat)"
    dd if=/dev/zero of="$mnt/f" bs=64k count=320 conv=notrunc,fsync status=none
    [[ $(attribute heat) == 2.00 && $(attribute nand_write_bytes) -ge 41943040 ]] || die "heat of a file written twice: $(attribute heat)"
    attribute nonsense 2> /dev/null && die "an attribute that there is not"
    python3 -c 'import os, sys
try: os.setxattr(sys.argv[1], "user.flashlab.pages", b"1")
except PermissionError: sys.exit(0)
sys.exit(1)' "$mnt/f" || die "it can be set"
    [[ -z $(python3 -c 'import os, sys; print("".join(os.listxattr(sys.argv[1])))' "$mnt/f") ]] || die "it is listed"
    python3 -c 'import os, sys
try: os.setxattr(sys.argv[1], "user.flashlab.stream", b"3")
except OSError as e: sys.exit(e.errno != 22)
sys.exit(1)' "$mnt/f" || die "a stream is taken by a drive that has none"
fi

say "--- use and smart"
"$FLASHLAB" ctl "$mnt" flush
"$FLASHLAB" ctl "$mnt" use --json > "$work/use" || die "ctl use"
"$FLASHLAB" ctl "$mnt" stats --json > "$work/stats"
[[ $(ask use "sum(f.value ->> '$.nand_write_bytes')" "json_each(doc, '$.files') f") == $(($(ask stats "sum(c.value ->> '$.page_programs')" "json_each(doc, '$.nand') c") * $(ask stats "doc ->> '$.page_bytes'"))) ]] ||
    die "the files' pages are not the drive's: $(cat "$work/use")"
"$FLASHLAB" ctl "$mnt" use | grep -q '^dd ' || die "use for people"
"$FLASHLAB" smart "$mnt" --as nvme --json > "$work/nvme"
"$FLASHLAB" smart "$mnt" --as ocp --json > "$work/ocp"
"$FLASHLAB" smart "$mnt" --bytes-per-day 1G --json > "$work/smart"
[[ $(ask nvme "doc ->> '$.media_errors'") == 0 && $(ask nvme "doc ->> '$.data_units_written'") -gt 0 ]] || die "smart --as nvme"
[[ $(ask ocp "doc ->> '$.\"Physical media units written\".lo'") == "$(ask smart "doc ->> '$.physical_media_units_written_bytes'")" ]] || die "smart --as ocp"
# Computed here anew: all good blocks, their rated erases, divided by what a byte of the host wears.
[[ $(ask smart "abs(1 - (doc ->> '$.remaining_years') * 365.25 * 1073741824 / (doc ->> '$.remaining_host_bytes')) < 1e-6") == 1 ]] || die "years: $(cat "$work/smart")"
[[ $(ask smart "abs(1 - (doc ->> '$.tbw_bytes') * (doc ->> '$.wear_per_host_byte') / ((doc ->> '$.endurance_estimate') * 1e9)) < 0.01") == 1 ]] || die "TBW: $(cat "$work/smart")"
unmount_device
mount_device
"$FLASHLAB" ctl "$mnt" use > "$work/out" 2> "$work/err" && die "use that nobody counts"
grep -q -- '-o use' "$work/err" || die "the remedy: $(cat "$work/err")"
unmount_device
say "ok: top"
