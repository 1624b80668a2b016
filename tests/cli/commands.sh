#!/usr/bin/env bash
# Every command that needs no mount: its JSON keys, its exit codes, its help. What programs and scripts of users rely on.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }

# has "KEYS" JSON: every key is there.
has() {
    local key
    for key in $1; do [[ $2 == *"\"$key\":"* ]] || wrong "no key $key in: ${2:0:300}"; done
}
# code N COMMAND...: exit code N; errors only on stderr, as "flashlab: ...".
code() {
    local expected=$1 got=0
    shift
    "$FLASHLAB" "$@" > "$work/out" 2> "$work/err" || got=$?
    [[ $got -eq $expected ]] || wrong "flashlab $*: exit code $got, expected $expected: $(head -n 1 "$work/err")"
    if [[ $expected -ne 0 && ${1-} != fsck ]]; then
        grep -q '^flashlab: ' "$work/err" || wrong "flashlab $*: no 'flashlab: ...' on stderr"
        [[ ! -s $work/out ]] || wrong "flashlab $*: an error was printed on stdout"
    fi
}

dev=$work/dev
mkfs_keys="directory made preset ftl metadata size_bytes channels groups blocks blocks_together spare_blocks effective_spare_blocks expected_waf closed_form_waf disk_bytes disk_bytes_at_most pram_bytes ram_bytes"
has "$mkfs_keys" "$("$FLASHLAB" mkfs "$dev" -n --json --size 1G)"
[[ ! -e $dev ]] || wrong "mkfs -n made something"
has "$mkfs_keys" "$("$FLASHLAB" mkfs "$dev" --json --size 64M 2> /dev/null)"
has "preset ftl label channels page_bytes device_bytes free_blocks spare_blocks nominal_spare_blocks effective_spare_blocks bad_blocks data_bytes data_free_bytes pram_bytes clean_at_open failure_log" "$("$FLASHLAB" info "$dev" --json)"
# Small groups hold much of the spare back: mkfs warns where that costs more than 5 % over the closed form, and only there. A drive like those
# sold has as much more spare.
for case in "page_map:1G warning: this drive is small" "page_map:64G " ":1G " ":128M "; do
    size=${case%% *}
    layer=${size%:*} size=${size#*:}
    "$FLASHLAB" mkfs "$work/spare" -n ${layer:+--ftl "$layer"} --size "$size" > "$work/out" 2> "$work/err" || wrong "mkfs -n --size ${case%% *}"
    grep -Eq 'spare  [0-9]+ of [0-9]+ blocks \([0-9.]+ %\), [0-9]+ of them for collection; [0-9]+ write points' "$work/out" || wrong "mkfs prints no effective spare: $(cat "$work/out")"
    [[ $(grep -o 'warning: this drive is small' "$work/err" || true) == "${case#* }" ]] || wrong "mkfs --size ${case%% *}: $(cat "$work/err")"
done
# A drive of half the size is as fast.
rate_of() { "$FLASHLAB" bench --size "$1" --iodepth 32 --precondition fill:100,random:2x --io-size "$1" --csv 2> /dev/null | sed -n 's/^iops,\([0-9]*\).*/\1/p'; }
half=$(rate_of 1G) whole=$(rate_of 2G)
[[ $whole -gt 0 && $((half * 100)) -ge $((whole * 95)) && $((half * 100)) -le $((whole * 105)) ]] || wrong "$half random writes a second at 1G, $whole at 2G"
# What nobody chose is nothing to be warned of.
"$FLASHLAB" mkfs "$work/spare" -n > "$work/out" 2> "$work/err" || wrong "mkfs -n"
[[ ! -s $work/err && -s $work/out ]] || wrong "mkfs warns of its own default: $(cat "$work/err")"
has "critical_warning avail_spare spare_thresh percent_used data_units_read data_units_written host_read_commands host_write_commands power_cycles power_on_hours
     unsafe_shutdowns waf wear_min wear_mean wear_max spare_blocks bad_user_nand_blocks" "$("$FLASHLAB" smart "$dev" --json)"
# percent_used: the mean erase count in percent of the endurance.
worn=$work/worn
"$FLASHLAB" mkfs "$worn" --size 64M --ftl page_map --set nand.endurance_cycles=7 --precondition fill:100,random:2x,written > /dev/null 2>&1 || wrong "mkfs --precondition"
smart=$("$FLASHLAB" smart "$worn" --json)
value() { sed -E "s/.*\"$1\":([0-9.]+).*/\1/" <<< "$smart"; }
awk -v used="$(value percent_used)" -v mean="$(value wear_mean)" 'BEGIN { exit !(used > 10 && used <= 100 * mean / 7 + 0.02 && used > 100 * mean / 7 - 1.02) }' ||
    wrong "percent_used is $(value percent_used) where a block was erased $(value wear_mean) times of 7"
# A drive that was made used has used that much of its life.
"$FLASHLAB" mkfs "$work/used" --size 64M --set nand.cell=tlc --set nand.cell_errors=tlc-72 --set nand.cycles_before=1500 --set nand.endurance_cycles=3000 > /dev/null 2>&1 || wrong "mkfs of a used drive"
[[ $("$FLASHLAB" smart "$work/used" --json) == *'"percent_used":50,'*'"remaining_percent":49.99'* ]] || wrong "a drive made with 1500 of 3000 cycles: $("$FLASHLAB" smart "$work/used")"
awk -v a="$(value waf_user)" -v b="$(value waf_gc)" -v c="$(value waf_merge)" -v d="$(value waf_map)" -v all="$(value waf)" \
    'BEGIN { s = a + b + c + d - all; exit !(s < 0.00001 && s > -0.00001 && b > 0) }' || wrong "smart: the parts of waf do not add up to it"
has "clean problems" "$("$FLASHLAB" fsck "$dev" --json)"
"$FLASHLAB" info "$dev" --config | grep '^scheme = "page_map"' > /dev/null || wrong "info --config"
has "ftl.scheme nand.channels" "$("$FLASHLAB" info "$dev" --config --json)"
"$FLASHLAB" info --keys | grep '^nand.channels ' > /dev/null || wrong "info --keys"
"$FLASHLAB" presets | grep modern-tlc > /dev/null || wrong "presets"
"$FLASHLAB" presets dumbo | grep '^nand.page_read_ns  *27320  *MC, Table 2' > /dev/null || wrong "presets dumbo: no sources"
"$FLASHLAB" presets --json | grep '"modern-tlc"' > /dev/null || wrong "presets --json"
"$FLASHLAB" query --schema | grep 'CREATE TABLE nand_op' > /dev/null || wrong "query --schema"
"$FLASHLAB" query --views | grep -E '^v_waf_by_cause  +write amplification' > /dev/null || wrong "query --views: no name and meaning"
"$FLASHLAB" query --views --json | grep '"view":"v_waf","about":"write amplification' > /dev/null || wrong "query --views --json"
"$FLASHLAB" query --schema --views | grep 'CREATE VIEW v_waf_by_cause' > /dev/null || wrong "query --schema --views: no SQL of the views"
"$FLASHLAB" smart "$worn" > "$work/out" || wrong "smart"
for line in 'temperature +300 K' 'avail_spare +[0-9]+ %' 'data_units_written +[0-9]+ times 512,000 bytes' 'wear_mean +[0-9.]+ erases' 'power_cycles +[0-9]+' 'host_write_bytes +[0-9]+ bytes \([0-9.]+ MiB\)'; do
    grep -Eq "^$line\$" "$work/out" || wrong "smart has no unit: $line: $(cat "$work/out")"
done

# Many placement handles: no drive that is many times larger than asked for, and no advice that cannot help.
for handles in 32 90 128 250; do
    for size in 256M 512M 4G; do
        code 2 mkfs "$work/many" -n --size $size --set ftl.separation=host --set ftl.host_streams=$handles
        grep -q 'at most 31 are possible (ftl.host_streams)' "$work/err" && ! grep -q 'larger --size' "$work/err" || wrong "$handles handles: $(cat "$work/err")"
    done
done
"$FLASHLAB" mkfs "$work/many" -n --size 256M --set ftl.separation=host --set ftl.host_streams=8 > "$work/out" 2> /dev/null || wrong "8 handles on 256M"
grep -Eq ': (25[6-9]|2[6-9][0-9]|3[01][0-9]) MiB of' "$work/out" || wrong "a drive with 8 handles is not as large as it was to be: $(cat "$work/out")"
code 2 mkfs "$work/many" -n --size 256M --set dram.write_buffer_bytes=1
grep -q 'dram.write_buffer_bytes = 1 holds no page of the flash: give 4096 or more' "$work/err" || wrong "a write buffer of a byte: $(cat "$work/err")"

# A map on flash takes the blocks that it needs from its own stale ones, before a collection of data has to be made in one go.
for ftl in dftl tpftl sftl learnedftl; do
    slow=$("$FLASHLAB" bench --ftl $ftl --size 1G --rw randwrite --bs 4k --io-size 2G --iodepth 32 --set ftl.reserved_permille=200 --set ftl.victim=greedy \
        --precondition fill:100 --warm-up 262144 --csv 2> /dev/null | sed -n 's/^latency_us.p99,\([0-9]*\).*/\1/p')
    [[ $slow -gt 0 && $slow -lt 17000 ]] || wrong "$ftl: 1 % of the requests took $slow us or more"
done

# What mkfs warns about, bench and replay warn about, too.
"$FLASHLAB" mkfs "$work/many" -n --ftl page_map --size 128M 2>&1 > /dev/null | sed -n 's/^flashlab: warning: //p' > "$work/planned"
grep -q 'this drive is small' "$work/planned" || wrong "mkfs does not warn of a small drive: $(cat "$work/planned")"
"$FLASHLAB" bench --ftl page_map --size 128M --io-size 1M 2>&1 > /dev/null | sed -n 's/^flashlab: bench: warning: //p' | cmp - "$work/planned" || wrong "bench warns otherwise than mkfs"

# Placement handles, as nvme-cli prints their log pages.
handles=$work/handles
"$FLASHLAB" mkfs "$handles" --size 128M --ftl page_map --set nand.channels=2 --set ftl.separation=host --set ftl.host_streams=3 \
    --precondition fill:100,random:1x,written > /dev/null 2>&1 || wrong "mkfs with placement handles"
pages=$(for page in configs usage stats status; do "$FLASHLAB" smart "$handles" --as fdp-$page --json; done) || wrong "smart --as fdp-*"
judge=python3
command -v python3 > /dev/null || judge=true
$judge - "$pages" "$("$FLASHLAB" smart "$handles" --json)" << 'EOF' || wrong "smart --as fdp-*: $pages"
import json, sys
configs, usage, stats, status = (json.loads(line) for line in sys.argv[1].splitlines())
smart = json.loads(sys.argv[2])
assert configs["n"] == 0 and configs["configs"][0]["nruh"] == 3 and configs["configs"][0]["ruhs"] == 3 * [{"ruht": 2}], configs
assert usage == {"nruh": 3, "ruhus": 3 * [{"ruha": 1}]}, usage
assert stats["hbmw"] == smart["host_write_bytes"] and stats["mbmw"] / stats["hbmw"] > 1.5 and stats["mbe"] > 0, stats
unit = configs["configs"][0]["runs"]
assert status["nruhsd"] == 3 and [r["pid"] for r in status["ruhss"]] == [0, 1, 2], status
assert status["ruhss"][0]["ruamw"] < unit // 512 and all(r["ruamw"] == unit // 512 for r in status["ruhss"][1:]), (status, unit)
EOF
"$FLASHLAB" mkfs "$work/striped" --size 128M --preset modern-tlc --ftl page_map --set ftl.reserved_permille=250 --set ftl.separation=host \
    --set nand.striping=2 > "$work/out" 2>&1 || wrong "mkfs of stripes with handles: $(cat "$work/out")"
"$FLASHLAB" bench --device "$work/striped" --rw write --bs 32k --io-size 256M > "$work/out" 2>&1 || wrong "bench on stripes with handles"
python3 - "$("$FLASHLAB" smart "$work/striped" --as fdp-stats --json)" << 'EOF' || wrong "media bytes erased of a striped drive"
import json, sys
stats = json.loads(sys.argv[1])
assert stats["mbe"] > 0 and stats["mbmw"] - stats["mbe"] >= 128 << 20, stats # what is programmed and not erased holds the drive's data
EOF
code 1 smart "$dev" --as fdp-stats
grep -q 'no placement handles: make one with --set ftl.separation=host' "$work/err" || wrong "smart --as fdp-stats without handles: $(cat "$work/err")"
code 2 mkfs "$work/grouped" -n --size 128M --ftl learnedftl --preset modern-tlc --set nand.channels=8 --set learnedftl.groups=8
grep -q 'learnedftl.groups = 8 holds 16 blocks open.*set fewer groups.*the least that has them is' "$work/err" || wrong "a small drive with groups: $(cat "$work/err")"
"$FLASHLAB" mkfs "$work/grouped" -n --size 256M --ftl learnedftl --preset modern-tlc --set nand.channels=2 \
    --set ftl.reserved_permille=300 --set learnedftl.groups=2 > "$work/out" 2> /dev/null || wrong "mkfs with groups"
grep -Eq ': (25[6-9]|2[6-9][0-9]|3[0-9][0-9]) MiB of' "$work/out" || wrong "a drive with groups is not as large as it was to be: $(cat "$work/out")"

"$FLASHLAB" reproduce list | grep '^mc-fig11 ' > /dev/null || wrong "reproduce list"
has "id paper title points series x params op request_bytes striping interleaving pipelining ours ratio claims text holds kind bound free_parameters why fitted_to changed_after" "$("$FLASHLAB" reproduce mc-fig11 --quick --json)"
"$FLASHLAB" reproduce mc-fig11 --quick | grep 'claims hold' > /dev/null || wrong "reproduce as text"
code 1 reproduce mc-fig13 --quick --html "$work/no/such/folder.html" # told before anything runs
"$FLASHLAB" reproduce mc-fig13 mc-fig16 --quick --html "$work/page.html" > /dev/null
grep -q 'mc-fig13' "$work/page.html" && grep -q 'mc-fig16' "$work/page.html" && grep -q '</html>' "$work/page.html" || wrong "reproduce --html"
"$FLASHLAB" reproduce mc-fig13 mc-fig16 --quick --markdown "$work/page.md" | grep '^all 2 experiments: results of the papers: ' > /dev/null || wrong "the headline of reproduce"
grep -q '^|  | \*\*mc-fig16: ' "$work/page.md" && grep -q 'What the papers\|results of the papers' "$work/page.md" || wrong "reproduce --markdown"
code 1 reproduce mc-fig13 --quick --markdown "$work/no/such/folder.md"
code 2 reproduce mc-fig99
code 2 reproduce beyond-ftls --traces /no/such/folder

for level in device ftl fs; do
    bench=$("$FLASHLAB" bench --level "$level" --rw randrw --io-size 4M --size 64M --json --seed 3 2> /dev/null)
    has "trace ftl preset requests reads writes trims host_read_bytes host_write_bytes read_pages unmapped_reads nand_read_pages nand_program_pages nand_erase_blocks waf waf_user waf_gc waf_merge waf_map gc_page_copies merges switch partial full
         cache partition sim_seconds wall_seconds requests_per_wall_second peak_rss_bytes iops read_mb_s write_mb_s latency_us mean p50 p95 p99 p999 max read write channel_utilisation erase_count
         min stddev config_hash seed version" "$bench"
    # The same input and seed give the same bytes, wall-clock keys and RSS aside.
    again=$("$FLASHLAB" bench --level "$level" --rw randrw --io-size 4M --size 64M --json --seed 3 2> /dev/null)
    without_clock() { sed -E 's/"(wall_seconds|requests_per_wall_second|peak_rss_bytes)":[^,]*,//g' <<< "$1"; }
    [[ $(without_clock "$bench") == "$(without_clock "$again")" ]] || wrong "bench --level $level does not repeat"
done

code 0 --version
code 0 --help
for command in mkfs mount umount fsck info presets smart ctl query bench; do
    code 0 "$command" --help
    grep -q '^Example' "$work/out" || wrong "$command --help shows no example"
done
code 2
code 2 nosuch
code 2 mkfs
code 2 mkfs "$work/x" --size 0
code 2 mkfs "$work/x" --set nand.chanels=2
code 1 mkfs "$dev" --size 64M
code 2 mount "$dev"
code 2 mount "$dev" "$work/nowhere" -o cache=1T
grep -q '^flashlab: mount: -o cache=1T: this host .*: give less' "$work/err" || wrong "mount -o cache=1T: $(cat "$work/err")"
mkdir "$work/mnt"
code 1 mount "$work/nowhere" "$work/mnt"
code 1 umount "$work"
code 1 info "$work/nowhere"
code 1 smart "$work/nowhere"
code 1 ctl "$work" stats
code 2 ctl "$work" nosuch
code 2 ctl "$work" zzz
grep -q "did you mean ''" "$work/err" && wrong "ctl zzz: a suggestion of nothing"
code 2 ctl "$work" set latency=foo
code 2 ctl "$work" set log=some
code 2 snapshot "$dev" ../x
code 2 crash torture --size 1Q -- true
code 2 trace workload:finan
code 2 replay workload:finan
code 2 mkfs "$work/x" --size 64M --set ftl.groups=17
grep -q 'ftl.groups is 17, the geometry has 16 dies' "$work/err" || wrong "mkfs ftl.groups=17: $(cat "$work/err")"
code 1 query "$dev" "SELECT 1"
code 2 bench --rw sideways
printf '0,100,8192,W,0.1\n0,200,4096,R,0.2\n' > "$work/two.spc"
code 0 trace "$work/two.spc" --json
code 1 trace "$work/nowhere"
code 2 trace
code 0 replay "$work/two.spc" --ftl page_map --size 64M --json
code 0 replay "$work/two.spc" --speed closed:4 --size 64M --precondition fill:10
# Served = read, less what was skipped.
read_and_served() { [[ $(< "$work/out") == *'"trace_read":{"format":"spc","lines":2,"other_lines":0,"bad_lines":0,"backward_steps":0,'"$1"'}'* ]] || wrong "replay: not $1"; }
code 0 replay "$work/two.spc" --size 64M --json
read_and_served '"requests":2,"skipped":0,"warm_up":0,"served":2'
code 0 replay "$work/two.spc" --size 64M --json --skip 1
read_and_served '"requests":2,"skipped":1,"warm_up":0,"served":1'
code 0 replay "$work/two.spc" --size 64M --json --warm-up 1
read_and_served '"requests":2,"skipped":0,"warm_up":1,"served":2'
code 1 replay "$work/two.spc" --size 64M --skip 2
code 1 replay "$work/two.spc" --size 64M --limit 0
# What strangers get wrong: each message names the slip.
says() { grep -q -- "$1" "$work/err" || wrong "no '$1' in: $(head -n 1 "$work/err")"; }
for option in --limit --skip --seed; do
    code 2 replay "$work/two.spc" "$option" -5
    says "-5 is negative"
done
code 2 replay "$work/two.spc" --colums ts:us=1
says 'unknown option --colums; did you mean --columns?'
code 2 replay "$work/two.spc" --format spz
says 'did you mean spc?'
code 2 trace "$work/two.spc" --format columns
says 'wants --columns'
code 2 trace "$work/two.spc" --columns ts=1,off:B=2
says 'the unit of a time'
seq 1 50 | sed 's/$/,x,y,z,9/' > "$work/none.csv"
code 1 replay "$work/none.csv" --format spc
says 'without --format'
code 2 bench --thinktime 4
says 'unknown option --thinktime'
code 2 bench --io-size 0
says 'holds no request'
code 1 replay "$work/two.spc" --format msr
code 2 replay "$work/two.spc" --speed never
code 0 replay "$work/two.spc" --size 64M --events "$work/run.db" --log all
code 0 query "$work/run.db" "SELECT count(*) FROM nand_op"
# A name is a name, even if SQLite would take it for an URI with options.
(
    cd "$work" || exit 1
    cp run.db 'file:run.db?mode=memory'
    "$FLASHLAB" query 'file:run.db?mode=memory' "SELECT count(*) FROM nand_op" > /dev/null
) || wrong "query of a log whose name begins with file:"
code 0 bench --size 64M --io-size 1M --events "$work/run.db"
[[ $("$FLASHLAB" query "$work/run.db" --json "SELECT x'00ff' AS b, x'' AS e") == "[{\"b\":\"x'00ff'\",\"e\":\"x''\"}]"* ]] || wrong "bytes that are no text"
[[ $("$FLASHLAB" query "$work/run.db" --json "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a") == '[{"a":1,"a_2":2,"a_2_2":3,"a_3":4}]'* ]] || wrong "columns of one name"
code 1 report "$work/run.db" -o "$work" && grep -q 'Is a directory; name a file in it' "$work/err" || wrong "report into a folder: $(cat "$work/err")"
[[ $("$FLASHLAB" query "$work/run.db" --csv "SELECT group_concat(kind) FROM run") == *replay,bench* ]] || wrong "two runs in one log"
code 0 mkfs "$work/aged" --size 64M --precondition fill:80,random:1x
code 0 fsck "$work/aged"
[[ $(du -m "$work/aged/nand.img" | cut -f 1) -lt 8 ]] || wrong "mkfs --precondition fills the host's disk: $(du -m "$work/aged/nand.img")"
[[ $("$FLASHLAB" smart "$work/aged" --json | sed -E 's/.*"host_write_bytes":([0-9]*).*/\1/') -ge 80000000 ]] || wrong "mkfs --precondition wrote nothing"
code 2 mkfs "$work/x" --size 64M --precondition everything
steady=$("$FLASHLAB" bench --size 64M --io-size 512M --iodepth 8 --precondition fill:100,random:2x --until-steady --json 2> /dev/null)
has "steady_state reached at_request at_sim_seconds window_bytes windows excursion slope" "$steady"
[[ $steady == *'"steady_state":{"reached":true'* ]] || wrong "bench --until-steady is not steady"
[[ $("$FLASHLAB" bench --size 64M --io-size 8M --warm-up 500 --json 2> /dev/null) == *'"requests":1548,'* ]] || wrong "bench --warm-up 500 of 2048"
code 1 bench --size 64M --io-size 1M --warm-up steady
says "(0 of 5 windows were written); give it more requests, or --precondition"
[[ $("$FLASHLAB" bench --size 64M --io-size 512M --iodepth 8 --precondition fill:100,random:2x --until-steady 2> /dev/null) == *"Steady from request "*"all other figures are of the whole run"* ]] ||
    wrong "bench --until-steady does not say which figures are of its steady windows"
# Reads beside collections that the writes before them left to do: warned of, until these have ended.
for warm_up in 0 90000; do
    "$FLASHLAB" bench --size 1G --rw randread --iodepth 32 --precondition fill:100,random:2x --io-size 512M --warm-up $warm_up > "$work/out" 2> "$work/err"
    [[ $(grep -c 'programmed while the run only read' "$work/err") -eq $((warm_up == 0)) ]] || wrong "reads behind a warm-up of $warm_up: $(cat "$work/err")"
done
"$FLASHLAB" bench --size 1G --rw randread --precondition fill:100 --io-size 4M > "$work/out" 2> "$work/err"
grep -q 'only read: [0-9]* pages that lay in the write buffer, left to do' "$work/err" || wrong "what a buffer holds is not told apart: $(cat "$work/err")"
"$FLASHLAB" bench --size 1G --rw randrw --rwmixread 90 --precondition fill:100,random:2x --io-size 4M > "$work/out" 2> "$work/err"
grep -q 'less than 2 % of the drive, and most of the [0-9]* pages that were programmed are .* copies of collections' "$work/err" || wrong "a short run is not warned of: $(cat "$work/err")"
grep -q '\(One of a thousand\|99.9 %\)' <("$FLASHLAB" bench --size 64M --io-size 200K 2> /dev/null) && wrong "a p99.9 of 50 requests is told"
printf 'preset = "nope"\n' > "$work/nope.toml"
code 2 bench --config "$work/nope.toml"
says 'nope.toml:1:1: no preset is called'
for twice in iodepth=4,iodepth=8 rate=1M,rate-iops=5 bs=4k,runtime=1,bs=4k; do
    code 2 bench --size 64M --queue rw=randread,$twice
    says 'is given twice: say it once'
done
for d in zipf:0.9 pareto:0.2 hotspot:0.2,0.8 fio-zipf:1.2 fio-pareto:0.2; do
    [[ $("$FLASHLAB" bench --size 64M --io-size 4M --random-distribution "$d" --json 2> /dev/null) == *'"requests":1024,'* ]] || wrong "bench --random-distribution $d"
done
code 2 bench --random-distribution zipf:many
code 2 bench --level ftl --size 64M --bs 512
code 2 bench --size 64M --bs 1000
code 2 bench --protocol snia-pts-iops --device "$dev"
code 2 bench --protocol nosuch
code 2 bench --protocol snia-pts-iops --bs 64k # it says all of its load
grep -q -- '--bs excludes --protocol' "$work/err" || wrong "bench --protocol --bs: $(cat "$work/err")"
code 2 bench --size 64M --html "$work/page.html" # of a protocol alone
grep -q -- '--html requires --protocol' "$work/err" || wrong "bench --html without --protocol: $(cat "$work/err")"
# An output that cannot be is told before the drive is made, and so before the first round; and what stood there stays, whatever fails later.
code 1 bench --protocol snia-pts-iops --set nand.channels=none --html "$work/no/such/page.html"
grep -q 'no/such' "$work/err" || wrong "bench --protocol --html into nowhere is told late: $(cat "$work/err")"
echo old > "$work/page.html"
code 2 bench --protocol snia-pts-iops --set nand.channels=none --html "$work/page.html"
timeout --preserve-status -s INT 2 "$FLASHLAB" bench --protocol snia-pts-iops --html "$work/page.html" > "$work/out" 2> "$work/err" && wrong "bench --protocol was not interrupted"
[[ ! -s $work/out ]] || wrong "an interrupted protocol has a result: $(head -c 300 "$work/out")"
[[ $(< "$work/page.html") == old && $(ls "$work") != *unfinished* ]] || wrong "a protocol that failed took the page, or left another: $(ls "$work")"
code 0 bench --protocol snia-pts-latency --runtime 1ms --preset tiny --json
grep -q "\"protocol\":\"snia-pts-latency\"" "$work/out" || wrong "bench --protocol says no protocol"
code 2 bench --level ftl --device "$dev"
code 2 bench --size 64M --warm-up never
code 2 replay "$work/two.spc" --size 64M --log all
code 2 replay "$work/two.spc" --device "$dev" --ftl dftl
code 1 replay "$work/two.spc" --device "$work/nowhere"
code 0 replay "$work/two.spc" --device "$dev" --log requests --json
grep -q '"sectors_verified":8' "$work/out" || wrong "replay --device verified nothing"
code 0 fsck "$dev"
code 2 replay "$work/two.spc" --ftl nosuch
"$FLASHLAB" replay "$work/two.spc" --size 64M --json > "$work/a.json"
code 0 compare "$work/a.json" "$work/a.json"
code 1 compare "$work/a.json" "$work/two.spc"
code 1 compare "$work/a.json" "$work/nowhere"
says 'No such file'
echo '{}' > "$work/empty.json"
code 1 compare "$work/empty.json" "$work/empty.json"
says 'no report of a run'
"$FLASHLAB" replay "$work/two.spc" --size 64M --limit 1 --json > "$work/b.json"
code 0 compare "$work/a.json" "$work/b.json"
says 'requests differs'
for percent in 10 90; do "$FLASHLAB" bench --size 64M --rw randrw --rwmixread $percent --io-size 1M --json > "$work/mix$percent.json" 2> /dev/null; done
code 0 compare "$work/mix10.json" "$work/mix90.json"
says 'note: load differs: these are not runs of the same load'
grep -q '^B: .*p99.9' "$work/out" && wrong "a p99.9 of 256 requests is compared"
printf '{\n  "requests": 1,,\n}' > "$work/broken.json"
code 1 compare "$work/broken.json" "$work/a.json"
says 'not valid JSON at 2:17'
code 2 presets nosuch
code 0 fsck "$dev"
code 0 fsck -n "$dev"
code 8 fsck "$work/nowhere"
code 16 fsck --nonsense "$dev"
# Nothing that was asked for is passed over in silence.
mkdir "$work/empty"
code 1 compare "$work/empty" "$work/empty"
says 'is a directory'
printf '{"requests":1,"x":null}' > "$work/null.json"
[[ $("$FLASHLAB" compare "$work/null.json" "$work/null.json" --json | grep -o '"key":"x"' | wc -l) -eq 1 ]] || wrong "compare prints a key twice"
code 2 query "$work/run.db" "SELECT 1; SELECT 2"
says 'one statement'
code 0 query "$work/run.db" "SELECT 1; -- the end"
code 0 query "$work/run.db" "SELECT ';' ; "
code 1 trace "$work/two.spc" --skip 100
says 'leaves nothing'
code 1 trace "$work/two.spc" --limit 0
code 2 trace "$work/two.spc" -o "$work/converted"
code 2 trace "$work/two.spc" --header
code 2 trace "$work/two.spc" --separator tab
code 2 crash torture --cuts 0 -- true
code 2 crash torture --device "$dev" --size 1G -- true
code 2 bench --rw write --random-distribution zipf:0.9
# Queues of a trace: read, written, fetched by the arbiter; what is no queue is named by file, line and field.
printf 'ns,device,queue,op,offset,bytes\n0,0,1,write,0,4096\n0,0,0,read,4096,512\n5,0,3,trim,0,4096\n9,0,2,flush,0,0\n' > "$work/queues.csv"
code 0 trace "$work/queues.csv" --convert flashlab -o "$work/again.csv"
cmp -s "$work/queues.csv" "$work/again.csv" || wrong "a trace of FlashLab's own format is not written as it was read"
code 0 replay "$work/queues.csv" --size 64M --set host_link.slots=1 --set host_link.arbiter=weighted --priorities low,urgent --json
[[ $(grep -o '"priority":"[a-z]*"' "$work/out" | tr -d '\n') == '"priority":"low""priority":"urgent""priority":"medium""priority":"medium"' ]] || wrong "queues of a replay: $(< "$work/out")"
code 2 replay "$work/queues.csv" --size 64M --priorities low
says 'host_link.slots is 0'
code 2 replay "$work/queues.csv" --size 64M --set host_link.slots=1 --priorities low,lowest
says "'lowest': allowed: urgent, high, medium, low"
printf '5,0,256,read,0,512\n' >> "$work/queues.csv"
code 1 replay "$work/queues.csv" --size 64M --format flashlab
says 'queues.csv: line 6, field 3: the queue is no number from 0 to 255'
code 2 bench --rate-iops 0
code 2 bench --rate-iops 5,6,7
code 2 bench --queue rate-process=exponential
code 2 bench --runtime 0
code 2 bench --queue runtime=soon
code 2 reproduce mc-fig11 --trace financial="$work/two.spc"
code 2 reproduce mc-fig11 --traces "$work"
# A job of fio's becomes loads that run.
printf '[global]\nbs=8k\nsize=1m\n[a]\nrw=randread\niodepth=4\n[b]\nrw=randrw\nrate=4m,8m\nnumjobs=2\nsurprise=1\n' > "$work/job.fio"
code 0 import fio "$work/job.fio" -o "$work/imported"
grep -q "no counterpart *surprise *1 *not known" "$work/out" || wrong "import does not say what it did not know"
FLASHLAB=$FLASHLAB sh "$work/imported/load.sh" > "$work/out" || wrong "the loads that import made do not run"
grep -q '^queues of the host' "$work/out" || wrong "the loads that import made are no queues"
code 1 import fio "$work/job.fio" -o "$work/imported" # it is there already
printf '[a]\nbs=4x\n' > "$work/job.fio"
code 2 import fio "$work/job.fio" -o "$work/other"
says 'job.fio:2:1: bs=4x'
test ! -e "$work/other" || wrong "a refused import left a directory"
code 2 import fio "$work/job.fio"
code 0 info --keys --json
has "keys key default allowed when meaning" "$(< "$work/out")"
code 2 info "$dev" --keys --config
code 2 mkfss d
says "did you mean 'mkfs'"
code 0 help
grep -q '  mount ' "$work/out" || wrong "help does not list the commands"
# Configurations that once ended in a failed check or not at all: reads of parts of pages that suspend, a bus that takes no time, an odd number of pages.
code 0 bench --preset tiny --bs 512 --iodepth 64 --set nand.program_suspends=1
code 0 bench --preset modern-slc --ftl hftl --rw rw --bs 64k --io-size 5M --precondition fill:100,random:2x --set nand.chips_per_channel=3 \
    --set nand.blocks_per_plane=17 --set nand.pages_per_block=3 --set nand.bus_ps_per_byte=0 --set nand.program_suspends=20
code 0 bench --preset tiny --ftl tpftl --bs 512 --set nand.pages_per_block=3 --set nand.page_bytes=512
# Pages that cannot be read: blocks that are never free again leave a learned table no room; a merge leaves the page's place erased.
printf '%s,W\n' 4706304,32768 6041600,32768 479232,512 1720320,32768 1622016,512 4476928,32768 3383296,32768 4161536,32768 5746688,512 \
    4018176,8192 > "$work/unreadable.csv"
code 0 replay "$work/unreadable.csv" --columns off:B=1,len:B=2,op=3 --wrap --preset modern-slc --ftl leaftl --precondition fill:100,random:1x,age:10y \
    --set nand.cell_errors=tlc-72 --set nand.chips_per_channel=2 --set nand.planes_per_die=3 --set nand.blocks_per_plane=32 \
    --set nand.pages_per_block=32 --set nand.page_bytes=2048
for ftl in log_block fast block_map; do
    code 0 replay workload:small-writes,requests=300 --wrap --preset tiny --ftl $ftl --set nand.cell_errors=tlc-72 --set nand.ecc_bits=8
done
# A buffer answers before slow buses have worked: they are busy all the time, not more.
code 0 bench --preset nvme-tlc --bs 128k --rw write --io-size 16M --iodepth 8 --set nand.bus_ps_per_byte=50000 --json
python3 -c 'import json, sys; sys.exit(not all(0.5 < share <= 1 for share in json.load(sys.stdin)["channel_utilisation"]))' < "$work/out" ||
    wrong "channel_utilisation is not a share of the time"
# A victim that is given up is the oldest still: write amplification of fifo stays what it is after one write of the drive.
code 0 bench --ftl page_map --size 256M --set nand.channels=1 --set nand.planes_per_die=1 --set nand.pages_per_block=64 --set ftl.victim=fifo \
    --set ftl.reserved_permille=70 --rw randwrite --bs 4k --iodepth 32 --precondition fill:100,random:3x --io-size 512M --json
python3 -c 'import json, sys; sys.exit(not 8 < json.load(sys.stdin)["waf"] < 8.7)' < "$work/out" || wrong "write amplification of fifo: $(cat "$work/out")"
# What a run that ends early has submitted and not fetched is no defect.
code 0 replay workload:tpcc,requests=60000 --speed closed:8 --wrap --preset tiny --ftl page_map --set host_link.slots=1 \
    --precondition fill:90,random:2x --until-steady
code 2 bench --precondition fill:100,age:3d
code 2 mkfs "$work/idle" --size 64M --precondition fill:100,age:3d
[[ ! -e $work/idle ]] || wrong "a refused mkfs left a drive"
code 0 mkfs "$work/verified" --size 64M --raw
code 0 bench --device "$work/verified" --rw write --bs 4k --io-size 4M
code 0 bench --device "$work/verified" --rw read --bs 4k --io-size 4M --json
grep -Eq '"sectors_verified": *[1-9]' "$work/out" || wrong "bench does not say how many sectors it has verified"
((failures == 0)) || exit 1
echo "ok: commands"
