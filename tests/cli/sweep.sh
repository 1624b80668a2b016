#!/usr/bin/env bash
# flashlab sweep: plans repeat, shards come together to the same bytes whatever was killed, and nothing wrong passes for a result.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
command -v sqlite3 > /dev/null || { echo "skipped: sqlite3 is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-sweep.XXXXXX")
children=()
trap '[[ ${#children[@]} -eq 0 ]] || kill -9 "${children[@]}" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
code() {
    local expected=$1 got=0
    shift
    "$FLASHLAB" sweep "$@" > out 2> err || got=$?
    [[ $got -eq $expected ]] || wrong "sweep $*: exit code $got, expected $expected: $(head -n 1 err)"
}
says() { grep -q -- "$1" err || wrong "no '$1' in: $(head -n 1 err)"; }
is() { [[ $1 == "$2" ]] || wrong "$3: $1, expected $2"; }

printf '0,0,4096,W,0.1\n0,8,4096,W,0.2\n0,0,4096,R,0.3\n' > t.spc
cat > s.toml << 'END'
[sweep]
seeds = [1, 2]
[grid]
preset = "tiny"
"ftl.scheme" = ["page_map", "hftl"]
nand.page_read_ns = [25000, 50000]
[[load]]
bench = { rw = "randwrite", bs = "4k", io_size = "256k" }
[[load]]
name = "replayed"
trace = "t.spc"
wrap = true
[[exclude]]
load = "replayed"
"ftl.scheme" = "hftl"
seed = 2
END
code 0 plan s.toml -o p.jsonl
says 'warning: load replayed: seeds change a replay by bad blocks and errors at most'
sed 's/^wrap = true/&\nprecondition = "fill:100,random:1x"/' s.toml > random.toml
code 0 plan random.toml
[[ ! -s err ]] || wrong "a load whose seeds matter is warned of: $(head -n 1 err)"
is "$(wc -l < p.jsonl)" 14 "runs of the plan"
code 0 plan s.toml
cmp -s out p.jsonl || wrong "the plan does not repeat"
is "$(sed -E 's/.*"id":"([0-9a-f]*)".*/\1/' p.jsonl | sort -u | wc -l)" 14 "ids"
mkdir sub && cp s.toml t.spc sub/
code 0 plan sub/s.toml -o sub/p.jsonl
is "$(grep -o '"id":"[0-9a-f]*"' sub/p.jsonl | tr '\n' ' ')" "$(grep -o '"id":"[0-9a-f]*"' p.jsonl | tr '\n' ' ')" "ids where the trace lies elsewhere"

# An unbroken run, and three shards, merged in any order, twice: the same bytes.
code 0 run p.jsonl -o whole.db -j 2
is "$(cat out)" "14 runs made, 0 were there, 0 failed: whole.db" "run"
[[ ! -e whole.db.part ]] || wrong "the journal stays"
for k in 1 2 3; do code 0 run p.jsonl --shard $k/3 -o $k.db; done
code 0 merge whole.db -o a.db --reproducible
code 0 merge 3.db 1.db 2.db -o b.db --reproducible
cmp a.db b.db || wrong "three shards are not the whole"
code 0 merge b.db 2.db a.db -o b.db --reproducible
cmp a.db b.db || wrong "merge is not idempotent"
code 0 merge 1.db 2.db -o part.db
is "$("$FLASHLAB" query whole.db --csv "SELECT count(*), count(DISTINCT \"ftl.scheme\"), min(waf) >= 1, min(wall_run_seconds) > 0, min(peak_rss_bytes) > 0 FROM v_runs" | tail -n 1 | tr -d '\r')" "14,2,1,1,1" "v_runs"
code 0 status p.jsonl part.db --json
[[ $(cat out) == *'"runs":14,"done":10,"failed":0,"missing":4,'* ]] || wrong "status: $(cat out)"
# What a user would type gives the same figures.
"$FLASHLAB" bench --rw randwrite --bs 4k --io-size 256k --set ftl.scheme=page_map --set nand.page_read_ns=25000 --preset tiny --seed 1 --json > one.json 2> /dev/null
is "$("$FLASHLAB" query whole.db --csv "SELECT json_extract(report, '\$.latency_us.p99') FROM run WHERE load = 'bench randwrite' AND seed = 1 AND parameters LIKE '%page_map%25000%'" | tail -n 1 | tr -d '\r')" \
    "$(sed -E 's/.*"latency_us":\{[^{]*"p99":([0-9.]*).*/\1/' one.json)" "p99 of the sweep and of bench"

# Killed in the middle, a torn line left behind: the same command goes on, and the bytes are those of an unbroken run.
sed -i 's/256k/16M/' s.toml
code 0 plan s.toml -o long.jsonl
code 0 run long.jsonl -o unbroken.db -j 2
for lines in 2 6; do
    "$FLASHLAB" sweep run long.jsonl -o killed.db -j 2 > /dev/null 2>&1 &
    children=($!)
    for _ in $(seq 600); do
        [[ $(cat killed.db.part 2> /dev/null | wc -l) -lt $lines ]] || break
        sleep 0.05
    done
    "$FLASHLAB" sweep run long.jsonl -o killed.db > /dev/null 2> err && [[ -e /proc/${children[0]} ]] && wrong "two writers of one database"
    kill -9 "${children[0]}" 2> /dev/null || true
    wait "${children[0]}" 2> /dev/null || true
    children=()
    [[ ! -e killed.db.part ]] || printf '{"run":{"id":"torn' >> killed.db.part
done
code 0 status long.jsonl killed.db
code 0 run long.jsonl -o killed.db -j 2
grep -q ' 0 were there' out && wrong "nothing was kept: $(cat out)"
code 0 merge unbroken.db -o a.db --reproducible
code 0 merge killed.db -o b.db --reproducible
cmp a.db b.db || wrong "a killed sweep ends with other bytes"
code 0 run long.jsonl -o killed.db
grep -q '^0 runs made, 14 were there' out || wrong "a finished sweep runs again: $(cat out)"

# More combinations than can be: their number and what to do, before any of them is made.
{
    printf '[sweep]\nseeds = [%s]\n[grid]\n' "$(seq -s , 1 500)"
    for key in nand.seed ftl.wear_threshold; do printf '%s = [%s]\n' "$key" "$(seq -s , 1 1000)"; done
    printf '[[load]]\nbench = { rw = "write", io_size = "1M" }\n'
} > many.toml
timeout 20 "$FLASHLAB" sweep plan many.toml -o many.jsonl > out 2> err && wrong "a sweep of 500 million runs is planned"
grep -q '500000000 combinations.*fewer values' err || wrong "a sweep of 500 million runs: $(cat err)"

# One id with two results: an error that names the key and the command.
cp 1.db forged.db
sqlite3 forged.db "UPDATE run SET report = replace(report, '\"requests\":64', '\"requests\":65') WHERE report LIKE '%\"requests\":64%'"
code 1 merge 1.db forged.db -o c.db
says 'has two results: requests: 6'
[[ ! -e c.db ]] || wrong "a refused merge leaves a database"
sed 's/"seed":1/"seed":7/' p.jsonl > edited.jsonl
code 1 run edited.jsonl -o c.db
says 'changed after it was planned'
sed -i 's/"ftl.scheme=hftl"/"ftl.scheme=dftl"/' p.jsonl
code 1 run p.jsonl -o c.db
says 'changed after it was planned'
code 0 plan sub/s.toml -o p.jsonl
printf '0,0,4096,W,0.4\n' >> sub/t.spc
code 1 run p.jsonl -o c.db
says 'not the trace that was planned'
cp sub/t.spc t.spc
sed -i 's/"version":"/"version":"9/' p.jsonl
code 1 run p.jsonl -o c.db
code 1 merge p.jsonl -o c.db
code 1 merge nowhere.db -o c.db
code 1 run s.toml -o c.db

# A run that fails is told, does not stop the others, and is tried again.
printf '[grid]\npreset = "tiny"\n[[load]]\nbench = { bs = ["4k"] }\n' > f.toml
code 2 plan f.toml
printf '[grid]\npreset = "tiny"\n[[load]]\nname = "good"\nbench = { bs = "4k", io_size = "64k" }\n[[load]]\nname = "bad"\nbench = { bs = "1000", io_size = "64k" }\n' > f.toml
code 0 plan f.toml -o f.jsonl
for _ in 1 2; do
    code 1 run f.jsonl -o f.db
    says '1 runs failed; the first: .*--bs 1000'
    code 0 status f.jsonl f.db --json
    [[ $(cat out) == *'"runs":2,"done":1,"failed":1,"missing":0,'* ]] || wrong "status of a failure: $(cat out)"
done
rm f.db # as a caller does with the output of a command that failed
code 1 run f.jsonl -o f.db
grep -q '^1 runs made, 1 were there, 1 failed' out || wrong "what was done is lost: $(cat out)"
# Configuration that changes between plan and run is no result.
FLASHLAB_NAND_PAGE_READ_NS=99000 "$FLASHLAB" sweep run f.jsonl -o env.db > /dev/null 2> err && wrong "another configuration passes"
says 'configuration is'

# What strangers get wrong: each message names the slip.
slip() {
    printf '%b' "$2" > slip.toml
    code 2 plan slip.toml
    says "$1"
}
slip "slip.toml:4:1: \[sweep\] unknown key 'seed'; did you mean 'seeds'" '[[load]]\nbench = {}\n[sweep]\nseed = [1]\n'
slip "slip.toml:2:1: \[sweep\] unknown key 'when'; there is seeds" '[sweep]\nwhen = 1\n[[load]]\nbench = {}\n'
slip "slip.toml:6:3: \[\[load\]\] 2: unknown key 'benhc'; did you mean 'bench'" '[[load]]\nbench = {}\n\n[[load]]\nname = "x"\n  benhc = {}\n'
slip "slip.toml:2:6: \[grid\] .*did you mean 'nand.channels'" '[grid]\nnand.chanels = [1]\n[[load]]\nbench = {}\n'
slip "slip.toml:5:1: \[\[exclude\]\] .*did you mean 'ftl.scheme'" '[[load]]\nbench = {}\n\n[[exclude]]\n"ftl.sheme" = 1\n'
slip "did you mean 'load'" '[[lod]]\nbench = {}\n'
slip "did you mean 'nand.channels'" '[grid]\n"nand.chanels" = [1]\n[[load]]\nbench = {}\n'
slip 'did you mean --io-size' '[[load]]\nbench = { io_sise = "1M" }\n'
slip 'no \[\[load\]\]' '[grid]\n"ftl.scheme" = ["hftl"]\n'
slip 'the list is empty' '[grid]\n"ftl.scheme" = []\n[[load]]\nbench = {}\n'
slip 'matches no run' '[grid]\n"ftl.scheme" = ["hftl"]\n[[load]]\nbench = {}\n[[exclude]]\n"ftl.scheme" = "dftl"\n'
slip 'does not vary' '[[load]]\nbench = {}\n[[exclude]]\n"ftl.scheme" = "dftl"\n'
slip 'leaves no run' '[grid]\n"ftl.scheme" = ["hftl"]\n[[load]]\nbench = {}\n[[exclude]]\n"ftl.scheme" = "hftl"\n'
slip 'two runs are the same, written differently' '[grid]\nsize = ["64M", 67108864]\n[[load]]\nbench = {}\n'
slip "trace: no load is called 'nope'" '[[load]]\ntrace = "workload:nope"\n'
slip 'two runs are the same' '[sweep]\nseeds = [1, 1]\n[[load]]\nbench = {}\n'
slip 'no whole number' '[sweep]\nseeds = [-1]\n[[load]]\nbench = {}\n'
slip 'slip.toml:1:' '[[load]\n'
slip "'events' is none of a load" '[[load]]\nbench = { events = "x.db" }\n'
slip 'no regular file\|No such file' '[[load]]\ntrace = "nowhere.spc"\n'
slip "unknown ftl.scheme 'pagemap'" '[grid]\n"ftl.scheme" = ["pagemap"]\n[[load]]\nbench = {}\n'
slip 'one of bench' '[[load]]\nname = "x"\n'
for shard in 0/2 3/2 1 1/x x; do
    code 2 run f.jsonl -o c.db --shard $shard
done
code 1 run nowhere.jsonl -o c.db
code 1 run f.jsonl -o no/such/folder/c.db
# Other commands that print one object may be loads, too.
printf '[sweep]\nseeds = [3, 4]\n[[load]]\ncommand = ["crash", "explore", "--ftl", "page_map", "--states", "40", "--seed", "{seed}"]\n' > c.toml
code 0 plan c.toml -o c.jsonl
code 0 run c.jsonl -o c1.db -j 2
code 0 run c.jsonl -o c2.db
code 0 merge c1.db c2.db -o c.db
is "$("$FLASHLAB" query c.db --csv "SELECT sum(json_extract(report, '\$.states')) > 1, sum(wall_states_per_second) > 0 FROM run" | tail -n 1 | tr -d '\r')" "1,1" "crash explore in a sweep"

[[ $failures -eq 0 ]] || { echo "$failures wrong"; exit 1; }
