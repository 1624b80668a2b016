#!/usr/bin/env bash
# run: the program's exit code and output are its own, every byte on flash belongs to one process and one file, and a signal leaves nothing.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 1024
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
# PATH of a JSON path, SQL over the report: json_each and so on.
value() { ask "json_extract(report, '$1')"; }
ask() { sqlite3 :memory: "WITH r(report) AS (SELECT CAST(readfile('$work/out') AS TEXT)) SELECT $1 FROM r${2:+, $2}"; }
run() {
    code=0
    "$FLASHLAB" run "$@" > "$work/out" 2> "$work/err" || code=$?
}
same() { [[ $2 == "$3" ]] || die "$1: $2 is not $3: $(cat "$work/out")"; }
nothing_left() {
    [[ -z $(ls -A "$TMPDIR") ]] || die "$1 left $(ls -A "$TMPDIR")"
    ! grep -q "$TMPDIR" /proc/self/mountinfo || die "$1 left a mount"
}
adds_up() {
    same "$1: processes on flash" "$(ask "sum(value ->> '$.nand_write_bytes')" "json_each(report, '$.processes')")" "$(value '$.nand_write_bytes')"
    same "$1: files on flash" "$(ask "sum(value ->> '$.nand_write_bytes')" "json_each(report, '$.files')")" "$(value '$.nand_write_bytes')"
    same "$1: causes" "$(ask "sum(value)" "json_each(report, '$.nand_write_bytes_by_cause')")" "$(value '$.nand_write_bytes')"
    same "$1: files to the drive" "$(ask "sum(value ->> '$.host_write_bytes')" "json_each(report, '$.files')")" "$(value '$.host_write_bytes')"
    same "$1: processes to the drive" "$(ask "sum(value ->> '$.host_write_bytes')" "json_each(report, '$.processes')")" "$(value '$.host_write_bytes')"
    ask "CASE WHEN abs((report ->> '$.waf') * (report ->> '$.host_write_bytes') - (report ->> '$.nand_write_bytes')) <=
        0.0001 * (report ->> '$.host_write_bytes') THEN 'yes' ELSE 'no' END" | grep -qx yes || die "$1: WAF is not flash / host"
}

say "--- who wrote what"
mib=1048576
program='dd if=/dev/zero of=made bs=64k count=64 conv=fsync status=none; mkdir -p a/b; cp made a/b/copy; mv a/b/copy a/moved
         for i in 1 2 3; do head -c 8192 made > journal; sync journal; rm journal; done; echo said'
run --size 64M --json -- sh -c "$program"
same "exit code" "$code" 0
same "processes know dd" "$(ask "value ->> '$.write_bytes'" "json_each(report, '$.processes') WHERE value ->> '$.process' = 'dd'")" $((4 * mib))
same "the file by its last name" "$(ask "value ->> '$.host_write_bytes'" "json_each(report, '$.files') WHERE value ->> '$.path' = 'a/moved'")" $((4 * mib))
same "files of one name, one after the other" "$(ask "value ->> '$.files'" "json_each(report, '$.files') WHERE value ->> '$.path' = 'journal'")" 3
same "who called fsync" "$(ask "value ->> '$.calls'" "json_each(report, '$.syncs_by_caller') WHERE value ->> '$.path' = 'journal' AND value ->> '$.process' = 'sync'")" 3
same "all syncs" "$(value '$.syncs')" 4
same "what programs wrote" "$(value '$.application_write_bytes')" $((8 * mib + 3 * 8192))
grep -qx said "$work/err" || die "with --json the program prints to standard error"
adds_up "plain"
nothing_left "a run"

say "--- collections are counted for the file whose pages they move, every scheme, striping and a buffer"
churn='dd if=/dev/zero of=cold bs=1M count=8 status=none; sync cold
       for i in 1 2 3 4 5 6; do dd if=/dev/zero of=hot bs=64k count=160 conv=notrunc,fsync status=none; done'
for ftl in page_map dftl hftl block_map log_block fast coftl; do
    run --size 24M --ftl "$ftl" --json -- sh -c "$churn"
    same "$ftl" "$code" 0
    adds_up "$ftl"
done
run --size 512M --ftl page_map --metadata journal --set nand.channels=2 --set nand.striping=2 --set dram.write_buffer_bytes=1M --json -- sh -c "$churn"
same "striping" "$code" 0
adds_up "striping, journal and buffer"
[[ $(value '$.metadata_write_bytes') -gt 0 ]] || die "a journal writes metadata: $(cat "$work/out")"

say "--- what slow requests waited for, and whose they were"
run --size 64M --ftl hftl --json --keep "$work/blamed" -- sh -c 'dd if=/dev/zero of=big bs=1M count=16 conv=fsync status=none; for i in 1 2 3; do head -c 4096 big > small; sync small; done; cat big > /dev/null'
same "the run of the blame" "$code" 0
log_says() { "$FLASHLAB" query "$work/blamed" "$1" --csv | tail -n 1 | tr -d '\r'; }
same "requests" "$(value '$.slow_requests.requests')" "$(log_says "SELECT count(*) FROM host_request")"
same "slowest" "$(value '$.slow_requests.slowest')" "$(log_says "SELECT count(DISTINCT id) FROM v_blame_part")"
same "waits add up to the latencies" "$(ask "sum(value ->> '$.ns')" "json_each(report, '$.slow_requests.waits')")" \
    "$(log_says "SELECT sum(dur_ns) FROM host_request WHERE id IN (SELECT id FROM v_blame_part)")"
same "whose they were" "$(ask "sum(value ->> '$.requests')" "json_each(report, '$.slow_requests.by_user')")" "$(value '$.slow_requests.slowest')"
same "the slowest is dd's" "$(ask "(value ->> '$.process') || ' ' || (value ->> '$.path') || ' ' || (value ->> '$.op')" "json_each(report, '$.slow_requests.by_user') LIMIT 1")" "dd big write"
same "flashlab is no process of the program" "$(ask "count(*)" "json_each(report, '$.processes') WHERE value ->> '$.process' = 'flashlab'")" 0
rm -rf "$work/blamed"
run --size 64M --json --log none -- sh -c 'echo > f; sync f'
same "a log of nothing blames nobody" "$(value '$.slow_requests')" ""

say "--- for people"
run --size 64M -- sh -c 'echo heard; exit 7'
same "the program's own code" "$code" 7
grep -qx heard "$work/out" && grep -q 'write amplification' "$work/out" && ! grep -q '^flashlab ' "$work/out" && grep -q 'lifetime:' "$work/out" || die "the text: $(cat "$work/out")"
run --size 64M --runs-per-day 10 --json -- dd if=/dev/zero of=f bs=1M count=4 conv=fsync status=none
ask "CASE WHEN (report ->> '$.lifetime.years') > 0 AND (report ->> '$.lifetime.tbw_bytes') > 0 THEN 'yes' END" | grep -qx yes || die "lifetime: $(cat "$work/out")"
# Years need a pace: without one they would be this machine's, which says nothing of the drive.
written=(dd if=/dev/zero of=f bs=1M count=4 conv=fsync status=none)
run --size 64M --json -- "${written[@]}"
same "a run without a pace has no years, but what may be written" "$(value '$.lifetime.years') $(ask "(report ->> '$.lifetime.tbw_bytes') > 0")" " 1"
run --size 64M -- "${written[@]}"
grep -q '^lifetime: years need a pace: --runs-per-day N, or --latency real' "$work/out" || die "without a pace: $(grep lifetime "$work/out")"
for pace in "--runs-per-day 10" "--latency real"; do
    # shellcheck disable=SC2086 # words
    run --size 64M $pace -- "${written[@]}"
    grep -Eq '^lifetime: [0-9.e+]+ (hours|days|years)|^lifetime: more than 1000 years' "$work/out" || die "$pace: $(grep lifetime "$work/out")"
done
run --size 64M --json -- true
same "nothing written has no lifetime" "$(value '$.lifetime.tbw_bytes')" ""

run --size 64M --html "$work/run.html" -- "${written[@]}"
grep -q '"name":"default"' "$work/run.html" && grep -q '</html>' "$work/run.html" || die "--html: no page: $(cat "$work/err")"
run --size 64M --html "$work/no/such/run.html" -- "${written[@]}"
same "a page that cannot be made, told before the run" "$code" 2
run --size 64M --log none --html "$work/none.html" -- "${written[@]}"
same "a page of no log" "$code" 2

say "--- side by side"
run --size 64M --compare-ftl page_map,fast --json -- dd if=/dev/zero of=f bs=1M count=4 conv=fsync status=none
same "two runs" "$(value '$.runs[0].ftl') $(value '$.runs[1].ftl')" "page_map fast"
run --size 64M --compare-ftl page_map,fast -- true
grep -q 'page_map *fast' "$work/out" || die "the table: $(cat "$work/out")"

say "--- --check, --keep, --device"
run --size 64M --check 'grep -qx one f' -- sh -c 'echo one > f'
same "a check that holds" "$code" 0
run --size 64M --check 'exit 3' -- true
same "a check that fails" "$code" 1
head -n 3 "$work/out" | grep -q 'The check of what it left FAILED: exit code 3' || die "a check that failed is not said first: $(cat "$work/out")"
! grep -q 'with success' "$work/out" || die "a run whose check failed is called a success: $(cat "$work/out")"
run --size 64M --keep "$work/kept" --log all -- sh -c 'echo two > f'
"$FLASHLAB" fsck "$work/kept" > /dev/null || die "the drive kept is not clean"
run --device "$work/kept" --json -- cat f
grep -qx two "$work/err" || die "a clone of a drive: $(cat "$work/err")"
nothing_left "--device"

say "--- a write budget"
budget=(--max-host-bytes 1M --max-flash-bytes 64M --max-syncs 2)
loud='dd if=/dev/zero of=big bs=64k count=32 conv=fsync status=none; for i in 1 2 3; do echo $i >> log; sync log; done'
run --size 64M "${budget[@]}" --junit "$work/junit.xml" -- sh -c "$loud"
same "a program that writes too much" "$code" 3
grep -q 'the drive was sent .*--max-host-bytes allows 1 MiB' "$work/err" || die "the budget of bytes: $(cat "$work/err")"
grep -Eq '2 MiB  /?big' "$work/err" || die "who wrote it: $(cat "$work/err")"
grep -Eq '3  /?log \(by sync\)' "$work/err" || die "who synced: $(cat "$work/err")"
! grep -q 'max-flash-bytes' "$work/err" || die "a limit that was kept is told: $(cat "$work/err")"
grep -q 'tests="3" failures="2"' "$work/junit.xml" || die "JUnit: $(cat "$work/junit.xml")"
run --size 64M --max-host-bytes 1M --json -- sh -c "$loud; exit 7"
same "its own failure goes first" "$code $(value '$.budget[0].held')" "7 0"
run --size 64M --max-host-bytes 100M --check 'exit 5' --junit "$work/junit.xml" -- sh -c 'exit 7'
same "a program that failed within its budget" "$code" 7
grep -q 'tests="3" failures="0" errors="2"' "$work/junit.xml" && grep -q '<error message="the program ended with 7"' "$work/junit.xml" &&
    grep -q '<error message="the check ended with 5"' "$work/junit.xml" || die "JUnit is green although the program failed: $(cat "$work/junit.xml")"
run --size 64M --max-host-bytes 100M --max-syncs 4 --json -- sh -c "$loud"
same "a program within its budget" "$code $(value '$.budget[1].came_to')" "0 4"
run --size 64M --junit "$work/junit.xml" -- true
same "a budget without limits" "$code" 2

say "--- wrong usage, and what a hostile user tries"
for words in "--size 64M" "--size 64M -- /no/such/program" "--ftl nonsense -- true" "--compare nonsense -- true" "--latency never -- true" \
    "--compare-ftl page_map,nonsense -- true" "--keep $work/kept -- true"; do
    # shellcheck disable=SC2086 # words
    run $words
    same "run $words: $(cat "$work/err")" "$code" 2
done
nothing_left "wrong usage"
run --size 64M --json -- sh -c 'cd /; sleep 60 & echo "" > "$FLASHLAB_MOUNT/$(printf "a\"b\n\\377")"'
same "a program left behind, and a name that is no text" "$code" 0
[[ -n $(value '$.files') ]] || die "no JSON: $(cat "$work/out")"
nothing_left "a program left behind"

say "--- signals: the program, the mount and the folder go"
declare -A code_of=([INT]=130 [TERM]=143 [HUP]=129)
for signal in INT TERM HUP; do
    "$FLASHLAB" run --size 64M --json -- sh -c 'echo $$ > pid.new && mv pid.new pid; sleep 1000 & wait' > "$work/out" 2> "$work/err" &
    runner=$!
    pid=
    for _ in {1..500}; do
        pid=$(cat "$TMPDIR"/flashlab-run.*/mnt/pid 2> /dev/null) && break
        sleep 0.02
    done
    [[ -n $pid ]] || die "the program does not come up: $(cat "$work/err")"
    kill "-$signal" $runner
    code=0
    wait $runner || code=$?
    same "run by $signal: $(cat "$work/err")" "$code" "${code_of[$signal]}"
    [[ ! -e /proc/$pid ]] || die "run by $signal left the program running"
    nothing_left "run by $signal"
done
say "ok: run"
