#!/usr/bin/env bash
# The page of `flashlab report`: one file, no network, whole or not there; what is given by mistake is refused; names are text, whatever they hold.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-report.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
# code N COMMAND...
code() {
    local expected=$1 got=0
    shift
    "$FLASHLAB" "$@" > "$work/out" 2> "$work/err" || got=$?
    [[ $got -eq $expected ]] || wrong "flashlab $*: exit code $got, expected $expected: $(head -n 1 "$work/err")"
    [[ $expected -eq 0 ]] || grep -q '^flashlab: report: ' "$work/err" || wrong "flashlab $*: says $(head -n 1 "$work/err")"
}
# The data of a page as JSON.
data_of() { sed -n 's|.*<script id="data" type="application/json">||p' "$1" | sed 's|</script>.*||'; }

for ftl in page_map dftl fast; do
    "$FLASHLAB" bench --preset tiny --ftl $ftl --rw randrw --bs 4k --io-size 16M --iodepth 4 --log all --events "$work/$ftl.db" --json > "$work/$ftl.json" 2> /dev/null ||
        wrong "bench $ftl"
done

code 0 report "$work/page_map.db" "$work/dftl.db" "$work/fast.db" "$work/fast.json" -o "$work/page.html"
size=$(stat -c %s "$work/page.html")
data=$(data_of "$work/page.html" | wc -c)
[[ $((size - data)) -le 307200 ]] || wrong "the page without its data has $((size - data)) bytes"
[[ $data -gt 10000 ]] || wrong "the page has $data bytes of data"
! grep -Eo '(src|href) *= *"?https?:[^">]*|@import|url\(' "$work/page.html" || wrong "the page asks the network"
grep -q "default-src 'none'" "$work/page.html" || wrong "no content policy"
grep -q 'Leon Sorokin' "$work/page.html" || wrong "the licence of the plot library is not in the page"
# What the page shows is what the run counted.
for ftl in page_map dftl fast; do
    for key in host_write_bytes nand_program_pages requests; do
        number=$(grep -o "\"$key\":[0-9]*" "$work/$ftl.json" | head -n 1)
        data_of "$work/page.html" | grep -q "$number" || wrong "$ftl: the page lacks $number"
    done
done

# Lines over time have values.
for line in '"user"' '"write_mb_s"' '"free_blocks"' '"permille"' '"map_writes"'; do
    data_of "$work/page.html" | grep -Eq "$line:\[+[^]]*[1-9]" || wrong "nothing but zeros in $line"
done

# One definition of a percentile, and the figures that are looked for first.
data_of "$work/page.html" > "$work/data.json"
for key in waf latency_us.read.p99 latency_us.write.p99 tbw_bytes; do
    grep -q "\"overview\":{[^}]*\"$key\":[0-9]" "$work/data.json" || wrong "the overview lacks $key"
done
for op in read write; do
    p99=$("$FLASHLAB" query "$work/dftl.db" "SELECT p99_us FROM v_request_pct WHERE op = '$op'" --csv | tr -d '\r' | tail -n 1)
    grep -q "\"latency_us.$op.p99\":${p99%.0}[,.}]" "$work/data.json" || wrong "query has $p99 for the p99 of $op, the page another: $(grep -o "latency_us.$op.p99\":[0-9.]*" "$work/data.json")"
done
# A request that a replay splits is one request, as its own report counts.
printf '%s\n' '0.001 0 8 8 0' '0.002 0 0 8 0' '0.003 0 0 16 0' > "$work/split.trace"
"$FLASHLAB" replay "$work/split.trace" --format disksim --preset tiny --compact --log all --events "$work/split.db" > /dev/null 2>&1 || wrong "replay of a split request"
[[ $("$FLASHLAB" query "$work/split.db" "SELECT count(*) FROM host_request" --csv | tr -d '\r' | tail -n 1) = 4 ]] || wrong "the request was not split"
code 0 report "$work/split.db" -o "$work/split.html"
data_of "$work/split.html" | grep -q '"overview":{[^}]*"requests":3,' || wrong "three requests, one of them in two pieces, are told as another number"
# Requests that come at once and wait: each counts when it was answered, so that the flash's pages find their bytes.
for i in $(seq 0 1999); do echo "0.000001 0 $((i % 500 * 8)) 8 0"; done > "$work/burst.trace"
"$FLASHLAB" replay "$work/burst.trace" --format disksim --preset tiny --log all --events "$work/burst.db" > /dev/null 2>&1 || wrong "replay of a burst"
code 0 report "$work/burst.db" -o "$work/burst.html"
user=$(data_of "$work/burst.html" | grep -o '"user":\[[^]]*' | head -n 1 | cut -d '[' -f 2 | tr ',' '\n' | grep -v null | sort -g | sed -n '1p;$p' | tr '\n' ' ')
awk -v ends="$user" 'BEGIN { split(ends, e, " "); exit !(e[1] > 0.2 && e[2] < 5) }' || wrong "write amplification over time of a burst goes from and to $user"

# The parts of write amplification over time add up to it, parity included, whatever the level.
"$FLASHLAB" bench --ftl page_map --size 512M --set nand.rain=4 --rw randwrite --io-size 16M --iodepth 8 --precondition fill:100 --log requests \
    --events "$work/rain.db" > /dev/null 2>&1 || wrong "bench with parity"
code 0 report "$work/rain.db" -o "$work/rain.html"
data_of "$work/rain.html" > "$work/rain.json"
python3 - "$work/rain.json" << 'END' || wrong "the parts of write amplification over time do not add up"
import json, re, sys
waf = json.loads(re.search(r'"waf":(\{"t_s".*?\})', open(sys.argv[1]).read())[1])
parts = zip(waf["waf"], *(waf[part] for part in ("user", "gc", "merge", "map", "other")))
rows = [row for row in parts if row[0]]
sys.exit(not rows or any(abs(row[0] - sum(row[1:])) > 0.01 * row[0] for row in rows))
END

# A rate is one of many requests, not of the gap between two; what is programmed while nothing is answered belongs to what was answered before; and what
# makes a figure say less than it seems to is told.
"$FLASHLAB" bench --ftl page_map --size 64M --rw randread --bs 4k --io-size 4k --log all --events "$work/one.db" > /dev/null 2>&1 || wrong "bench of one read"
code 0 report "$work/one.db" -o "$work/one.html"
data_of "$work/one.html" > "$work/one.json"
for i in $(seq 0 4); do
    for j in $(seq 0 15); do echo "$((i * 100000000 + j * 1000)),0,0,write,$(((i * 16 + j) * 4096)),4096"; done
    echo "$((i * 100000000 + 50000000)),0,0,flush,0,0"
done > "$work/pauses.csv"
"$FLASHLAB" replay "$work/pauses.csv" --format flashlab --size 256M --set dram.destage=full --log all --events "$work/pauses.db" > /dev/null 2>&1 ||
    wrong "replay of writes, pauses and flushes"
code 0 report "$work/pauses.db" -o "$work/pauses.html"
data_of "$work/pauses.html" > "$work/pauses.json"
"$FLASHLAB" bench --size 256M --rw write --bs 64k --io-size 64M --events "$work/held.db" > /dev/null 2> "$work/err" || wrong "bench of a write buffer's worth"
grep -q 'pages that the run wrote still lie in the write buffer' "$work/err" || wrong "what stays in the buffer is not told: $(cat "$work/err")"
code 0 report "$work/held.db" -o "$work/held.html"
data_of "$work/held.html" > "$work/held.json"
python3 - "$work/one.json" "$work/pauses.json" "$work/held.json" << 'END' || wrong "the page of a short run misleads"
import json, sys
one, pauses, held = (json.load(open(name))["runs"][0] for name in sys.argv[1:])
assert len(one["throughput"]["iops"]) == 1 and abs(one["throughput"]["iops"][0] - one["overview"]["iops"]) < 0.3 * one["overview"]["iops"], one["throughput"] # the flash is at rest later
assert any("hold nothing" in caution for caution in one["cautions"]), one["cautions"]
parts = [waf for waf in pauses["waf"]["waf"] if waf is not None]
assert abs(sum(parts) / len(parts) - pauses["overview"]["waf"]) < 0.02 * pauses["overview"]["waf"], (parts, pauses["overview"]["waf"])
assert pauses["is_short"] and any("less than 2 %" in caution for caution in pauses["cautions"]), pauses["cautions"]
assert any("still lie in the write buffer" in caution for caution in held["cautions"]), held["cautions"]
END

# What failed is in no rate and no latency, here as in the views and in the run's own answer.
"$FLASHLAB" bench --ftl page_map --size 512M --rw randread --bs 4k --io-size 1M --precondition fill:100,age:1y --set nand.cell_errors=tlc-72 \
    --set nand.cycles_before=3000 --set nand.read_retries=1 --events "$work/worn.db" --log requests --json > "$work/worn.json" 2> /dev/null || true
grep -q '"requests":0,' "$work/worn.json" || wrong "a worn drive answers: $(head -c 200 "$work/worn.json")"
for view in v_request_pct v_queues; do
    [[ $("$FLASHLAB" query "$work/worn.db" "SELECT count(*) FROM $view" --csv | tr -d '\r' | tail -n 1) = 0 ]] || wrong "$view counts requests that failed"
done
code 0 report "$work/worn.db" -o "$work/worn.html"
data_of "$work/worn.html" > "$work/data.json"
for key in '"requests":0' '"failed_requests":256' '"host_read_bytes":0' '"read_mb_s":0'; do
    grep -q "\"overview\":{[^}]*$key[,.}]" "$work/data.json" || wrong "of requests that failed the overview has no $key"
done
! grep -q '"overview":{[^}]*"latency_us.read' "$work/data.json" || wrong "requests that failed have a latency"
# A queue's writes are its writes, without trims and flushes.
awk 'BEGIN { srand(3); print "ns,device,queue,op,offset,bytes"; split("write read flush trim write", ops)
    for (i = 1; i <= 2000; ++i) { op = ops[1 + int(rand() * 5)]; f = op == "flush"; printf "%d,0,%d,%s,%d,%d\n", i * 200000, i % 2, op, f ? 0 : int(rand() * 8000) * 4096, f ? 0 : 4096 } }' \
    > "$work/queues.csv"
"$FLASHLAB" replay "$work/queues.csv" --size 512M --precondition fill:50 --set host_link.slots=16 --json > "$work/queues.json" 2> /dev/null || wrong "replay in two queues"
python3 - "$work/queues.json" << 'PYTHON' || wrong "the queues' writes are not the run's"
import json, sys
run = json.load(open(sys.argv[1]))
means = [queue["write_us"]["mean"] for queue in run["queues"]]
assert sum(queue["requests"] for queue in run["queues"]) == run["requests"], run["requests"]
assert min(means) <= run["latency_us"]["write"]["mean"] <= max(means), (means, run["latency_us"]["write"])
PYTHON
# Pages of folds count when they are copied, not when their block is given back.
"$FLASHLAB" bench --preset samsung-980pro-1t --size 2G --rw write --bs 128k --iodepth 4 --io-size 1900M --json > "$work/folds.json" 2> /dev/null || wrong "a fill that folds"
python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); n = r["counters"]["folded_pages"]; assert n == r["gc_page_copies"] > 0, (n, r["gc_page_copies"])' \
    "$work/folds.json" || wrong "of a fill that does nothing but fold, folded_pages are not all copies"

# A name that would be markup stays text.
code 0 report "$work/fast.db" --name '</script><script>alert(1)</script><!--' -o "$work/name.html"
[[ $(grep -c '</script><script>alert' "$work/name.html") -eq 0 ]] || wrong "a name became markup"
data_of "$work/name.html" | grep -q 'u003c/script' || wrong "the name is not in the page"

# A directory, level summary, and a log of which the oldest rows are gone.
"$FLASHLAB" mkfs "$work/dev" --size 64M -q
code 1 report "$work/dev" -o "$work/none.html"
[[ ! -e $work/none.html ]] || wrong "a page of a device that has no log"
"$FLASHLAB" bench --preset tiny --rw randwrite --io-size 1M --log summary --events "$work/summary.db" > /dev/null 2>&1 || wrong "bench summary"
code 0 report "$work/summary.db" -o "$work/summary.html"

# Times and places that no drive has: refused with the table's name, soon.
forged() { # forged WORDS SQL
    cp "$work/dftl.db" "$work/forged.db"
    sqlite3 "$work/forged.db" "$2"
    code=0
    timeout 60 "$FLASHLAB" report "$work/forged.db" -o "$work/forged.html" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq 1 ]] && grep -q "$1" "$work/err" || wrong "forged by $2: code $code, $(cat "$work/err")"
    [[ ! -e $work/forged.html ]] || wrong "forged by $2: there is a page"
}
if command -v sqlite3 > /dev/null; then
    # Rates of a run of which half was logged are the run's; and of many samples that are thinned, each speaks of all that lies before it.
    cp "$work/page_map.db" "$work/half.db"
    sqlite3 "$work/half.db" 'DELETE FROM host_request WHERE id > (SELECT avg(id) FROM host_request)'
    code 0 report "$work/half.db" -o "$work/half.html"
    code 0 report "$work/page_map.db" -o "$work/whole.html"
    iops() { data_of "$1" | grep -o '"iops":[0-9.]*' | head -n 1 | cut -d : -f 2; }
    data_of "$work/half.html" | grep -q '"partly":"requests"' || wrong "half of the requests are taken for all"
    ! data_of "$work/whole.html" | grep -q '"partly"' || wrong "a whole log is taken for half of one"
    awk -v half="$(iops "$work/half.html")" -v whole="$(iops "$work/whole.html")" 'BEGIN { exit !(half > 0.9 * whole && half < 1.1 * whole) }' ||
        wrong "half of the log says $(iops "$work/half.html") requests a second, all of it $(iops "$work/whole.html")"
    sqlite3 "$work/summary.db" "DELETE FROM sample WHERE sample > 1; WITH RECURSIVE i(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM i WHERE n < 20000)
        INSERT INTO sample SELECT n, run, ts_ns + n * 1000000, 0, host_writes + n / 2 * 100, 0, 0, 0, n / 2 * 409600, 0, 0 FROM sample JOIN i WHERE sample = 1"
    code 0 report "$work/summary.db" -o "$work/thin.html"
    data_of "$work/thin.html" | python3 -c 'import json, re, sys
rates = [r for r in json.loads(re.search(r"\"throughput\":\{.*?\"iops\":(\[.*?\])", sys.stdin.read())[1]) if r is not None][2:]
sys.exit(len(rates) < 100 or not all(45000 < r < 55000 for r in rates[:-1]))' || wrong "of samples of which every second one counts nothing, those shown tell another rate"

    most=9223372036854775807
    for table in host_request nand_op; do
        one="rowid = (SELECT rowid FROM $table LIMIT 1 OFFSET 20)"
        forged "1 rows of $table have times" "UPDATE $table SET dur_ns = $most WHERE $one"
        forged "1 rows of $table have times" "UPDATE $table SET dur_ns = -1 WHERE $one"
    done
    forged '1 rows of nand_op have times' "UPDATE nand_op SET pages = $most WHERE $one"
    forged '1 rows of nand_op have times' "UPDATE nand_op SET plane = $most WHERE $one"
    forged '1 rows of nand_op have times' "UPDATE nand_op SET bus_in_at_ns = $most WHERE $one"
    forged 'begins or ends at a time that no drive has' "UPDATE sample SET ts_ns = $most"
    forged 'begins or ends at a time that no drive has' "UPDATE run SET start_ns = -$most"
fi

# What is no run.
echo "not a database" > "$work/text.db"
echo '{"a": 1}' > "$work/other.json"
: > "$work/empty.db"
truncate -s 20000 "$work/fast.db" 2> /dev/null
for bad in text.db other.json empty.db missing.db fast.db; do
    code 1 report "$work/$bad" -o "$work/bad.html"
    [[ ! -e $work/bad.html ]] || wrong "a page of $bad"
done
mkfifo "$work/fifo.db"
code 1 report "$work/fifo.db" -o "$work/bad.html"
code 1 report "$work/dftl.db" -o "$work/no/such/folder.html"
code 1 report "$work/dftl.db" --run 77 -o "$work/bad.html"
code 2 report "$work/dftl.db" --name a --name b -o "$work/bad.html"
# An old page stays as it was when the new one fails.
cp "$work/page.html" "$work/kept.html"
code 1 report "$work/text.db" -o "$work/kept.html"
cmp -s "$work/page.html" "$work/kept.html" || wrong "a failed report changed the page that was there"
# A signal at any stage leaves the old page or the new one, and nothing else.
"$FLASHLAB" bench --preset tiny --ftl fast --rw randwrite --bs 4k --io-size 48M --log all --events "$work/long.db" > /dev/null 2>&1 || wrong "bench long"
for after in 0.02 0.05 0.1 0.2 0.3 0.4 0.6; do
    for what in "report $work/long.db -o $work/kept.html" "export $work/long.db --perfetto $work/kept.html"; do
        cp "$work/page.html" "$work/kept.html"
        # shellcheck disable=SC2086 # words
        code=0; timeout -s TERM "$after" "$FLASHLAB" $what > "$work/out" 2> "$work/err" || code=$?
        [[ $code -eq 0 || $code -eq 124 ]] || wrong "flashlab $what, ended after $after s: code $code, $(head -n 1 "$work/err")"
        [[ $code -eq 0 ]] || cmp -s "$work/page.html" "$work/kept.html" || [[ $(tail -c 8 "$work/kept.html") == *'>'* || $(tail -c 4 "$work/kept.html") == *'}'* ]] ||
            wrong "flashlab $what, ended after $after s, left half a file"
    done
done
[[ -z $(find "$work" -name '*unfinished*') ]] || wrong "left behind: $(find "$work" -name '*unfinished*')"

[[ $failures -eq 0 ]] || exit 1
echo "ok: report"
