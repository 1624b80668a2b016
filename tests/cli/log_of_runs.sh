#!/usr/bin/env bash
# Several runs in one log: each view, report and timeline tells a run's rows from those of the others, whatever their times.
# FLASHLAB=BINARY log_of_runs.sh
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-log-of-runs.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
ask() { "$FLASHLAB" query "$1" "$2" --csv | tail -n +2 | tr -d '\r'; }
# Three drives whose times begin at zero: the rows of all have the same times.
loads=("--ftl fast --rw randrw --bs 6k --io-size 3M --iodepth 4" "--ftl page_map --rw randwrite --bs 4k --io-size 2M --iodepth 2"
    "--ftl dftl --rw randrw --bs 5k --io-size 2M --iodepth 8")
for i in 0 1 2; do
    for log in "alone$i.db" all.db; do
        # shellcheck disable=SC2086
        "$FLASHLAB" bench --preset tiny --precondition fill:60 ${loads[i]} --log all --events "$log" --json > "out$i.json" || die "bench ${loads[i]}"
    done
done
[[ $(ask all.db "SELECT count(*) FROM run") == 3 ]] || die "three runs are wanted"
views=("v_plane_util:channel, chip, die, plane, cells_ns, utilisation" "v_gc_efficiency:cause, jobs, pages_copied, pages_freed, empty_victims, fullest_victim"
    "v_blame:what, requests, ns, share" "v_request_pct:op, requests, mean_us, p99_us, max_us" "v_channel_util:channel, busy_ns, utilisation"
    "v_waf_over_time:t_s, host_write_bytes, programmed_bytes")
for view in "${views[@]}"; do
    for i in 0 1 2; do
        columns=${view#*:} name=${view%%:*}
        ask "alone$i.db" "SELECT $columns FROM $name ORDER BY 1, 2, 3" > want
        ask all.db "SELECT $columns FROM $name WHERE run = $((i + 1)) ORDER BY 1, 2, 3" > got
        [[ -s want || $name == v_gc_efficiency ]] || die "$name of run $((i + 1)) alone is empty"
        cmp -s want got || die "$name of run $((i + 1)) beside others: $(diff want got | head -n 6)"
    done
done
[[ $(ask all.db "SELECT count(*) FROM v_plane_util WHERE utilisation > 1") == 0 ]] || die "a plane is busy for longer than its run"
ask all.db "SELECT n.n FROM nand_op n LEFT JOIN v_run_span s ON n.n > s.first_op AND n.n <= s.last_op WHERE s.run IS NULL LIMIT 1" > got
[[ ! -s got ]] || die "a row of nand_op belongs to no run"
data() { tr -d '\n' < "$1" | sed 's/.*application\/json">//; s/<\/script>.*//; s/"slowest":.*//; s/"run":[0-9]*//'; } # ids are numbered on
for i in 0 1 2; do
    "$FLASHLAB" report "alone$i.db" --name r -o alone.html > said && "$FLASHLAB" report all.db --run $((i + 1)) --name r -o beside.html > said || die "report"
    data alone.html > want
    data beside.html > got
    [[ -s want ]] || die "the page has no data"
    cmp -s want got || die "the report of run $((i + 1)) beside others is another one"
    "$FLASHLAB" export "alone$i.db" --perfetto want.json > said && "$FLASHLAB" export all.db --run $((i + 1)) --perfetto got.json > said || die "export"
    for what in '"ph":"X"' '"ph":"s"' '"ph":"C"'; do
        want=$(grep -c "$what" want.json || true) got=$(grep -c "$what" got.json || true)
        [[ $want == "$got" ]] || die "timeline of run $((i + 1)): $got of $what beside others, $want alone"
    done
done
# Rows add up to what channels and planes did, whatever one program holds; blocks have the pages that they have, and a life is the whole flash's.
for drive in "--size 64M" "--size 256M --ftl page_map --set nand.channels=8 --set ftl.reserved_permille=150 --set nand.rain=4" \
    "--size 128M --ftl page_map --set ftl.reserved_permille=150 --set nand.striping=2"; do
    rm -f sums.db
    # shellcheck disable=SC2086
    "$FLASHLAB" bench $drive --precondition fill:90,random:1x --rw randrw --bs 4k --io-size 16M --iodepth 8 --log all --events sums.db --json > sums.json 2> /dev/null || die "bench $drive"
    rows=$(ask sums.db "SELECT sum(bus_in_ns + bus_out_ns) FROM nand_op WHERE pages = 1") counted=$(ask sums.db "SELECT sum(busy_ns) FROM v_channel_util")
    [[ $rows == "$counted" && $rows -gt 0 ]] || die "$drive: rows have the buses for $rows ns, the channels were busy for $counted"
    [[ $(ask sums.db "SELECT count(*) FROM v_plane_util WHERE utilisation > 1") == 0 ]] || die "$drive: a plane is busy for longer than its run"
    [[ $(ask sums.db "SELECT count(*) FROM gc_job WHERE valid_pages > victim_pages AND victim_pages > 0") == 0 ]] || die "$drive: a victim has more pages than its block"
    [[ $(ask sums.db "SELECT count(*) FROM block WHERE written_pages > pages OR pages = 0") == 0 ]] || die "$drive: a block has more pages than it has"
    "$FLASHLAB" report sums.db -o sums.html > said || die "report $drive"
    flash=$(ask sums.db "SELECT sum(blocks) FROM wear")
    members=$(ask sums.db "SELECT max(1, CAST(substr(config_toml, instr(config_toml, char(10) || 'rain = ') + 8) AS INTEGER), CAST(substr(config_toml, instr(config_toml, char(10) || 'striping = ') + 12) AS INTEGER)) FROM run")
    settings=$(ask sums.db "SELECT CAST(substr(config_toml, instr(config_toml, char(10) || 'pages_per_block = ') + 19) AS INTEGER) * page_bytes * CAST(substr(config_toml, instr(config_toml, char(10) || 'endurance_cycles = ') + 20) AS INTEGER) FROM run")
    awk -v blocks="$flash" -v members="$members" -v each="$settings" -v tbw="$(grep -o '"tbw_bytes":[0-9.e+]*' sums.html | head -n 1 | cut -d: -f2)" -v waf="$(grep -o '"waf":[0-9.]*' sums.html | head -n 1 | cut -d: -f2)" \
        'BEGIN { whole = blocks * members * each; exit !(tbw * waf > 0.5 * whole && tbw * waf < 1.01 * whole) }' || die "$drive: the life in the report is not the flash's"
done
# The warm-up is in no figure of the log, as it is in none of the report.
for load in "--rw randrw --bs 6k --io-size 6M --iodepth 4" "--level fs --rw randrw --bs 6k --io-size 1M"; do
    rm -f warm.db
    # shellcheck disable=SC2086
    "$FLASHLAB" bench --preset tiny --ftl page_map $load --warm-up 100 --log all --events warm.db --json > warm.json || die "bench with a warm-up"
    for pair in "nand_program_pages:coalesce(sum(pages * (op = 1)), 0):nand_op" "nand_read_pages:coalesce(sum(pages * (op = 0)), 0):nand_op" \
        "nand_erase_blocks:coalesce(sum(op = 2), 0):nand_op"; do
        IFS=: read -r key what table <<< "$pair"
        json=$(grep -o "\"$key\":[0-9]*" warm.json | head -n 1 | tr -dc 0-9)
        [[ $(ask warm.db "SELECT $what FROM $table") == "$json" ]] || die "$load: $key is $json in the report, $(ask warm.db "SELECT $what FROM $table") in the log"
    done
    [[ $(ask warm.db "SELECT sum(page_programs) FROM v_waf_by_cause") == $(grep -o '"nand_program_pages":[0-9]*' warm.json | tr -dc 0-9) ]] || die "$load: samples count the warm-up"
done
requests=$("$FLASHLAB" bench --preset tiny --ftl page_map --rw randrw --bs 6k --io-size 6M --warm-up 100 --events w.db --csv | sed -n 's/^requests,\([0-9]*\).*/\1/p')
[[ $(ask w.db "SELECT count(*) FROM host_request") == "$requests" ]] || die "the log has not the $requests requests behind the warm-up"
# A scheme's own counters are of the run, whatever preconditioning counted and whichever of them it did not touch.
for ftl in learnedftl leaftl tpftl; do
    rm -f own.db
    "$FLASHLAB" bench --ftl $ftl --size 64M --set ftl.mapping_cache_bytes=4K --precondition fill:100 --rw randrw --bs 8k --io-size 4M --iodepth 4 \
        --events own.db --json > own.json 2> /dev/null || die "bench --ftl $ftl"
    grep -o '"counters":{[^}]*}' own.json | grep -o '"[a-z_]*":[0-9]*[,}]' | tr -d '",}' | sort > want
    ask own.db "SELECT name || ':' || value FROM v_counters" | tr -d '"' | sort > got
    [[ -s want ]] && cmp -s want got || die "counters of $ftl: $(diff want got | head -n 6)"
done
# What a log says of a run is what the run said, as a recording that is replayed, too.
run_json() { grep -o "\"$1\":[0-9.]*" "$2" | head -n 1 | cut -d: -f2; }
rm -rf kept && "$FLASHLAB" mkfs kept --size 256M --quiet
"$FLASHLAB" bench --device kept --rw randwrite --io-size 16M --iodepth 4 --log all --json > kept.json 2> /dev/null || die "bench --device"
[[ $(ask kept "SELECT host_reads + host_writes + host_flushes FROM v_run_totals") == "$(run_json requests kept.json)" ]] || die "the log of a drive counts its closing, too"
[[ $(ask kept "SELECT page_programs FROM v_run_totals JOIN sample_nand USING(sample) WHERE cause = 0") == "$(run_json nand_program_pages kept.json)" ]] || die "programs of the closing"
printf 'ns,device,queue,op,offset,bytes\n0,0,0,write,0,4096\n2000000,0,0,write-fua,8192,4096\n4000000,0,0,read,0,4096\n' > fua.fl
for round in 1 2; do "$FLASHLAB" replay fua.fl --size 64M --events fua.db > /dev/null 2>&1 || die "replay of a write-fua"; done
[[ $(ask fua.db "SELECT group_concat(fua, ' ') FROM host_request WHERE op = 1") == '0 1 0 1' ]] || die "FUA of the trace: $(ask fua.db "SELECT op, fua FROM host_request")"
"$FLASHLAB" replay fua.db --size 64M > said.txt 2>&1 && die "two runs with a clock each were replayed as one"
grep -q -- '--run N' said.txt || die "no remedy for two runs: $(cat said.txt)"
printf 'ns,device,queue,op,offset,bytes\n0,0,0,write,0,4096\n1000,0,0,write,4096,4096,2\n2000,0,0,read,0,4096,1\n' > streams.fl
"$FLASHLAB" replay streams.fl --size 64M --log requests --events streams.db > /dev/null 2>&1 || die "replay of streams"
"$FLASHLAB" trace streams.db --convert flashlab -o streamed.fl 2> /dev/null && cmp -s streamed.fl streams.fl || die "streams come back as: $(cat streamed.fl)"
"$FLASHLAB" trace fua.db --run 2 --convert flashlab -o back.fl 2> /dev/null && cut -d, -f2- back.fl | cmp -s - <(cut -d, -f2- fua.fl) || die "a recording comes back as: $(cat back.fl)"
"$FLASHLAB" replay fua.db --run 3 --size 64M > said.txt 2>&1 && die "run 3 of two"
"$FLASHLAB" replay fua.fl --run 1 --size 64M > said.txt 2>&1 && die "a run of a text"
"$FLASHLAB" query fua.db "SELECT DISTINCT what FROM v_blame" --csv | grep -qx 'not recorded' || die "blame of a log without the flash: $("$FLASHLAB" query fua.db "SELECT * FROM v_blame")"
"$FLASHLAB" bench --size 1G --rw randwrite --bs 4k --io-size 4M --iodepth 64 --precondition fill:100 --events busy.db --log all > /dev/null 2>&1 || die bench
for view in v_plane_util v_channel_util; do [[ $(ask busy.db "SELECT max(utilisation) <= 1 FROM $view") == 1 ]] || die "$view: busier than the time is long"; done
"$FLASHLAB" bench --size 64M --io-size 64k --warm-up 16 > said.txt 2>&1 && die "a warm-up of the whole run measured something"
echo "ok: log_of_runs"
