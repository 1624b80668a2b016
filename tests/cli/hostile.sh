#!/usr/bin/env bash
# A hostile shell: descriptors that are closed, output that nobody takes, files that cannot be made, signals at every stage of what takes long.
# No mount is needed; mounts and crash torture have the same in tests/live.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
exec 9>&1
wrong() { printf "WRONG: %s\n" "$*" >&9; failures=$((failures + 1)); }
limit() { timeout --foreground 60 "$@"; }
# What a command made and should have taken away again.
left_over() { find "$work" \( -name '*.unfinished-*' -o -name '*.mkfs-*' -o -name '*.copying-*' \) -print; }
nothing_left() {
    local left
    left=$(left_over)
    [[ -z $left ]] || { wrong "$1 left $left"; find "$work" \( -name '*.unfinished-*' -o -name '*.mkfs-*' -o -name '*.copying-*' \) -prune -exec rm -rf {} +; }
}
# ends CODE WHAT COMMAND...: by redirections that are the caller's.
ends() {
    local expected=$1 what=$2 got=0
    shift 2
    "$@" || got=$?
    [[ $got -eq $expected ]] || wrong "$what: exit code $got, expected $expected: $(head -c 300 "$work/err")"
}

dev=$work/dev
limit "$FLASHLAB" mkfs "$dev" --size 64M --quiet
for n in {1..2000}; do printf '0,%d,4096,%s,%d.0\n' "$((n * 8))" "$([[ $((n % 3)) -eq 0 ]] && echo R || echo W)" "$n"; done > "$work/t.spc"
limit "$FLASHLAB" replay "$work/t.spc" --size 64M --json > "$work/report.json" 2> "$work/err"
limit "$FLASHLAB" bench --size 64M --io-size 1M --events "$work/log.db" > "$work/out" 2> "$work/err"
limit "$FLASHLAB" snapshot "$dev" kept > "$work/out"
for helper in mkfs fsck mount; do ln -s "$FLASHLAB" "$work/$helper.flashlab"; done

echo "--- closed descriptors"
: > "$work/err"
closed() {
    local what="${*/#$FLASHLAB/flashlab}"
    ends 0 "$what <&-" limit "$@" > "$work/out" 2> "$work/err" <&-
    ends 0 "$what >&-" limit "$@" 2> "$work/err" >&-
    ends 0 "$what 2>&-" limit "$@" > "$work/out" 2>&-
    ends 0 "$what <&- >&- 2>&-" limit "$@" <&- >&- 2>&-
}
quick=(
    "info $dev" "info $dev --config" "info --keys" "smart $dev --json" "presets" "presets dumbo" "query --schema" "compare $work/report.json $work/report.json"
    "replay $work/t.spc --size 64M" "bench --size 64M --io-size 1M --json" "trace $work/t.spc" "trace $work/t.spc --convert mqsim" "snapshot $dev" "reproduce list"
    "reproduce mc-fig13 --quick" "crash explore --states 200" "help" "version" "--version" "--help" "mkfs --help" "fsck -n $dev" "mkfs -n $work/none --size 64M"
)
for words in "${quick[@]}"; do
    # shellcheck disable=SC2086 # words are words
    closed "$FLASHLAB" $words
done
closed "$FLASHLAB" query "$work/log.db" "SELECT * FROM host_request"
closed "$work/fsck.flashlab" -n "$dev"
closed "$work/mkfs.flashlab" -F "$work/by-helper"
ends 0 "a drive made without descriptors" limit "$FLASHLAB" fsck "$work/by-helper" > "$work/out" 2> "$work/err"
mkdir "$work/mnt"
ends 32 "mount.flashlab of nothing, all closed" limit "$work/mount.flashlab" "$work/nowhere" "$work/mnt" <&- >&- 2>&-
ends 1 "an error that nobody hears" limit "$FLASHLAB" info "$work/nowhere" 2>&-

echo "--- /dev/full"
full() {
    local expected=$1
    shift
    ends "$expected" "${*/#$FLASHLAB/flashlab} > /dev/full" limit "$@" > /dev/full 2> "$work/err"
    grep -q '^flashlab: standard output: No space left on device: ' "$work/err" || wrong "${*/#$FLASHLAB/flashlab} > /dev/full says: $(head -c 300 "$work/err")"
    grep -q 'internal error\|defect' "$work/err" && wrong "${*/#$FLASHLAB/flashlab} > /dev/full calls it a defect"
    ends 0 "${*/#$FLASHLAB/flashlab} 2> /dev/full" limit "$@" > "$work/out" 2> /dev/full
}
for words in "${quick[@]}"; do
    code=1
    [[ $words == fsck* ]] && code=8
    # shellcheck disable=SC2086
    full $code "$FLASHLAB" $words
done
full 1 "$FLASHLAB" query "$work/log.db" "SELECT * FROM host_request"
ends 1 "an error on a full disk" limit "$FLASHLAB" info "$work/nowhere" 2> /dev/full
yes 0,8,4096,W,1.0 2> /dev/null | head -n 100000 > "$work/long.spc" || true
ends 1 "a long output > /dev/full" limit "$FLASHLAB" trace "$work/long.spc" --convert msr > /dev/full 2> "$work/err"
grep -q '^flashlab: standard output: No space left' "$work/err" || wrong "a long output > /dev/full: $(head -c 300 "$work/err")"
got=0
limit "$FLASHLAB" trace "$work/long.spc" --convert msr 2> "$work/err" | head -n 1 > "$work/out" || got=$?
[[ $got -eq 141 && ! -s $work/err ]] || wrong "a reader that leaves: $got, $(head -c 300 "$work/err")"

echo "--- files written aside"
ends 0 "trace -o" limit "$FLASHLAB" trace "$work/t.spc" --convert spc -o "$work/made.spc" 2> "$work/err"
[[ $(wc -l < "$work/made.spc") -eq 2000 ]] || wrong "trace -o made $(wc -l < "$work/made.spc") lines"
ends 1 "trace -o over a file" limit "$FLASHLAB" trace "$work/t.spc" --convert mqsim -o "$work/made.spc" 2> "$work/err"
ends 1 "trace -o into nowhere" limit "$FLASHLAB" trace "$work/t.spc" --convert mqsim -o "$work/no/such/x" 2> "$work/err"
ends 1 "trace -o FOLDER" limit "$FLASHLAB" trace "$work/t.spc" --convert mqsim -o "$work" 2> "$work/err"
gzip -c "$work/t.spc" | head -c 4000 > "$work/bad.spc" # ends in the midst
ends 1 "trace -o of a bad trace" limit "$FLASHLAB" trace "$work/bad.spc" --convert mqsim -o "$work/half.mqsim" 2> "$work/err"
[[ ! -e $work/half.mqsim ]] || wrong "a bad trace left half a conversion"
ends 1 "trace -o /dev/full" limit "$FLASHLAB" trace "$work/t.spc" --convert mqsim -o /dev/full 2> "$work/err"
[[ -c /dev/full ]] || wrong "/dev/full is gone"
[[ $(limit "$FLASHLAB" trace "$work/t.spc" --convert mqsim -o /dev/stdout | wc -l) -eq 2000 ]] || wrong "trace -o /dev/stdout"
{ cat "$work/t.spc"; echo 1,8,4096,W,1.0; } > "$work/bad.spc" # another device, which is an error of that request
ends 1 "--events of a bad trace" limit "$FLASHLAB" replay "$work/bad.spc" --size 64M --events "$work/bad.db" > "$work/out" 2> "$work/err"
[[ ! -e $work/bad.db ]] || wrong "a run that failed left a new log"
runs() { limit "$FLASHLAB" query "$1" --csv "SELECT group_concat(kind) FROM run" | tail -n 1; }
ends 1 "--events of a bad trace into a log" limit "$FLASHLAB" replay "$work/bad.spc" --size 64M --events "$work/log.db" > "$work/out" 2> "$work/err"
[[ $(runs "$work/log.db") == *'bench,replay (partial)'* ]] || wrong "the run that failed is not marked: $(runs "$work/log.db")"
ends 1 "--events into nowhere" limit "$FLASHLAB" bench --size 64M --io-size 1M --events "$work/no/such/x.db" > "$work/out" 2> "$work/err"
: > "$work/empty.db"
chmod 600 "$work/empty.db"
ends 0 "--events into an empty file" limit "$FLASHLAB" bench --size 64M --io-size 1M --events "$work/empty.db" > "$work/out" 2> "$work/err"
[[ $(runs "$work/empty.db") == bench && $(stat -c %a "$work/empty.db") == 600 ]] || wrong "--events into an empty file: $(runs "$work/empty.db")"
echo good > "$work/page.html"
ln -s page.html "$work/link.html"
ends 1 "reproduce > /dev/full" limit "$FLASHLAB" reproduce mc-fig13 --quick --html "$work/page.html" > /dev/full 2> "$work/err"
[[ $(< "$work/page.html") == good ]] || wrong "a run that failed took the page"
ends 1 "--html into nowhere" limit "$FLASHLAB" reproduce all --html "$work/no/such/page.html" > "$work/out" 2> "$work/err"
[[ ! -s $work/out ]] || wrong "--html into nowhere is told late"
ends 0 "--html by a link" limit "$FLASHLAB" reproduce mc-fig13 --quick --html "$work/link.html" > "$work/out" 2> "$work/err"
[[ -L $work/link.html ]] && grep -q '</html>' "$work/page.html" || wrong "--html by a link"
ends 0 "--html /dev/null" limit "$FLASHLAB" reproduce mc-fig13 --quick --html /dev/null > "$work/out" 2> "$work/err"
[[ -c /dev/null ]] || wrong "/dev/null is gone"
ends 2 "--keep nowhere" limit "$FLASHLAB" crash torture --keep "$work/no/such" -- true > "$work/out" 2> "$work/err"
grep -q -- '--keep' "$work/err" || wrong "--keep nowhere says: $(head -c 300 "$work/err")"
nothing_left "written aside"

echo "--- signals"
declare -A code_of=([INT]=130 [TERM]=143 [HUP]=129)
# after SECONDS SIGNAL COMMAND...: started, told to end, and gone soon.
after() {
    local seconds=$1 signal=$2 got=0
    shift 2
    what="${*/#$FLASHLAB/flashlab} by $signal after $seconds s"
    "$@" > "$work/out" 2> "$work/err" &
    sleep "$seconds"
    kill "-$signal" $! 2> /dev/null || wrong "$what: it had ended: $(head -c 300 "$work/err")"
    wait $! || got=$?
    [[ $got -eq ${code_of[$signal]} ]] || wrong "$what: exit code $got: $(head -c 300 "$work/err")"
    nothing_left "$what"
}
partial_json() { grep -q '"partial":true' "$work/out" || wrong "$what: not marked partial: $(head -c 300 "$work/out")"; }
endless=(--size 64M --io-size 100G --iodepth 4)
for signal in INT TERM HUP; do
    after 0.4 $signal "$FLASHLAB" bench "${endless[@]}" --json --events "$work/stopped.db"
    partial_json
    grep -q '"requests":[1-9]' "$work/out" || wrong "$what: no figures"
    [[ ! -e $work/stopped.db ]] || wrong "$what left a log"
    after 0.4 $signal "$FLASHLAB" crash explore --ftl hftl --states 100000000 --json
    partial_json
    after 0.4 $signal "$FLASHLAB" crash selftest --json
    partial_json
    echo good > "$work/page.html"
    after 0.4 $signal "$FLASHLAB" reproduce beyond-ftls --json --html "$work/page.html"
    partial_json
    [[ $(< "$work/page.html") == good ]] || wrong "$what took the page"
    after 0.4 $signal "$FLASHLAB" mkfs "$work/half" --size 1G --precondition fill:100,random:90x,written
    [[ ! -e $work/half ]] || wrong "$what left half a drive"
done
after 0.02 TERM "$FLASHLAB" mkfs "$work/half" --size 1G --precondition fill:100,random:90x,written
[[ ! -e $work/half ]] || wrong "$what left half a drive"
before=$(cat "$dev"/*.img "$dev"/*.toml | cksum)
after 0.4 INT "$FLASHLAB" mkfs "$dev" --force --size 1G --precondition fill:100,random:90x,written
[[ $before == "$(cat "$dev"/*.img "$dev"/*.toml | cksum)" ]] || wrong "$what: the drive that was to be replaced is not as before"
ends 0 "$what, fsck" limit "$FLASHLAB" fsck "$dev" > "$work/out" 2> "$work/err"
after 0.4 TERM "$FLASHLAB" bench "${endless[@]}"
head -n 1 "$work/out" | grep -q '^Partial: ' || wrong "$what: not marked partial"
after 0.4 TERM "$FLASHLAB" bench "${endless[@]}" --events "$work/log.db"
[[ $(runs "$work/log.db") == *'bench (partial)'* ]] || wrong "$what: the run is not marked: $(runs "$work/log.db")"
after 0.4 INT "$FLASHLAB" bench --size 1G --precondition fill:100,random:90x,written
grep -q 'interrupted' "$work/err" || wrong "$what: $(head -c 300 "$work/err")"
after 0.4 INT "$FLASHLAB" bench --level fs --rw randread --size 1G --io-size 100G --json
after 0.4 TERM "$FLASHLAB" crash explore --ftl dftl --metadata journal --states 100000000 --json
partial_json
after 0.4 TERM "$FLASHLAB" crash explore --ftl hftl --in-a-row 1000000000 --json
partial_json
# Input that does not come: what was read counts.
mkfifo "$work/slow"
for words in "replay $work/slow --format spc --size 64M --json" "trace $work/slow --format spc --json"; do
    (cat "$work/t.spc"; exec sleep 60) > "$work/slow" &
    feeder=$!
    # shellcheck disable=SC2086
    after 0.6 INT "$FLASHLAB" $words
    if [[ $words == trace* ]]; then partial_json; fi # of a replay the first request may not have been read
    kill $feeder 2> /dev/null || true
    wait $feeder 2> /dev/null || true
done
(cat "$work/t.spc"; exec sleep 60) > "$work/slow" &
feeder=$!
after 0.6 TERM "$FLASHLAB" trace "$work/slow" --format spc --convert mqsim -o "$work/half.mqsim"
[[ ! -e $work/half.mqsim ]] || wrong "$what left half a conversion"
kill $feeder 2> /dev/null || true
wait $feeder 2> /dev/null || true
# timeout(1) sends its signal twice, to the program and to the group: once for us.
got=0
timeout --preserve-status 0.5 "$FLASHLAB" bench "${endless[@]}" --json > "$work/out" 2> "$work/err" || got=$?
what="timeout(1)"
[[ $got -eq 143 ]] || wrong "$what: exit code $got"
partial_json
# nohup(1): HUP is not for us.
(trap '' HUP; exec "$FLASHLAB" bench "${endless[@]}" --json) > "$work/out" 2> "$work/err" &
sleep 0.4
kill -HUP $!
sleep 0.2
kill -TERM $! || wrong "HUP under nohup ends it"
got=0
wait $! || got=$?
[[ $got -eq 143 ]] || wrong "HUP under nohup, then TERM: exit code $got"
nothing_left "the end"

echo "--- a map that writes little with a word line of many planes"
timeout --foreground -s KILL 60 "$FLASHLAB" bench --ftl dftl --size 24M --rw randrw --bs 512 --io-size 8M --iodepth 1 --precondition fill:90,random:1x \
    --seed 885 --set nand.channels=1 --set nand.planes_per_die=4 --set nand.pages_per_block=37 --set nand.page_bytes=512 --set nand.one_shot=1 \
    --set dftl.batch_update=0 > "$work/out" 2> "$work/err" || wrong "it does not end: $(head -c 300 "$work/err")"

((failures == 0)) || exit 1
echo "ok: hostile"
