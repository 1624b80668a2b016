#!/usr/bin/env bash
# crash torture --explore: a program that forgets an fsync is found within fifty states at latency off, one that forgets none passes in every model, and
# what is kept shows the same again.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
export TMPDIR=$work
explore() { "$FLASHLAB" crash torture --explore --size 64M --keep "$work" --json "$@" > "$work/out" 2> "$work/err"; }
expect() { # CODE arguments...
    local want=$1 code=0
    shift
    explore "$@" || code=$?
    [[ $code -eq $want ]] || die "explore $*: $code instead of $want: $(cat "$work/err" "$work/out")"
}

# Promises each number once it is in place. sync(1) is fsync of a file or of a directory.
writer='for i in 1 2 3 4 5 6; do echo $i > n.new && $data n.new && mv n.new n && $name . && echo $i >&$FLASHLAB_ACK_FD || exit 9; done'
check='last=$(tail -n 1 "$FLASHLAB_ACKS"); now=$(cat n 2> /dev/null || echo 0); [ "$now" -ge "${last:-0}" ]'
say "--- a program that is right passes in every model"
for model in strict ext4 xfs btrfs posix; do
    data=sync name=sync expect 0 --persistence $model --states 150 --check "$check" -- env data=sync name=sync sh -c "$writer"
    grep -q '"findings":\[\]' "$work/out" || die "$model: something was found: $(cat "$work/out")"
    grep -q '"promises":6,' "$work/out" || die "$model: the promises were not counted: $(cat "$work/out")"
done
say "--- without the sync of the data, and without that of the name"
for model in strict ext4 xfs btrfs posix; do
    expect 1 --persistence $model --states 50 --check "$check" -- env data=true name=sync sh -c "$writer"
    grep -q '"missing_call":"fsync(n.new) before' "$work/out" || die "$model: the missing call is not told: $(cat "$work/out")"
    [[ $model == strict ]] && want=0 || want=1
    expect $want --persistence $model --states 50 --check "$check" -- env data=sync name=true sh -c "$writer"
    [[ $want -eq 0 ]] || grep -q 'fsync of the directory' "$work/out" || die "$model: the missing call is not told: $(cat "$work/out")"
done
say "--- a finding of a limit is found again with that limit; a check may remove its directory"
expect 1 --timeout 0.5 --check '[ ! -e a ] || [ -s a ] || sleep 2' -- sh -c 'echo hi > a'
line=$(grep -o 'flashlab crash torture --replay [^"]*' "$work/out" | head -n 1)
code=0
bash -c "\"\$FLASHLAB\" ${line#flashlab }" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] || die "$line: $code: $(cat "$work/out" "$work/err")"
expect 0 --check 'rm -rf "$FLASHLAB_MOUNT"' -- sh -c 'echo hi > a; echo b > b'
say "--- how many states there are is a number that people write"
expect 0 --persistence posix --states 20 --check true -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do : > f$i; done'
grep -Eq 'of at most [0-9]{5} states that the model allows' "$work/out" || die "the number of states: $(grep -o '"not_tried":[^]]*' "$work/out")"
say "--- the replay, and the other forms of the report"
for end in json html junit.xml sarif; do reports+=(--report "$work/cert.$end"); done
expect 1 --persistence posix --states 50 "${reports[@]}" --check "$check" -- env data=true name=sync sh -c "$writer"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err" | head -n 1) || die "no replay line: $(cat "$work/err")"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay must fail, too: $code, $(cat "$work/out")"
(eval "\"\$FLASHLAB\" ${line#flashlab } --check true") > "$work/out" || die "the replay of another check: $(cat "$work/out")"
grep -q 'here the power failed' "$work"/flashlab-state-*/trace.txt || die "the trace has no mark"
grep -q '"not_tried":\[".*' "$work/cert.json" && grep -q 'Not tried' "$work/cert.html" && grep -q '<failure ' "$work/cert.junit.xml" &&
    grep -q '"ruleId":"lost-after-power-cut"' "$work/cert.sarif" || die "a report lacks its words"
if command -v python3 > /dev/null; then
    python3 -c 'import json, sys, xml.dom.minidom
for f in sys.argv[1:3]: json.load(open(f))
xml.dom.minidom.parse(sys.argv[3])' "$work/cert.json" "$work/cert.sarif" "$work/cert.junit.xml" || die "a report cannot be read"
fi
say "--- a check that stays: the same findings, and the same again from what is kept"
served="while read -r cut; do if $check; then echo ok; else echo \"cut \$cut: n is \$now, \$last was promised\"; fi; done"
expect 1 --persistence posix --states 50 --check "$check" -- env data=true name=sync sh -c "$writer"
grep -o '"what":"[^"]*"' "$work/out" > "$work/alone"
expect 1 --persistence posix --states 50 --check-serves --check "$served" -- env data=true name=sync sh -c "$writer"
grep -o '"what":"[^"]*"' "$work/out" | cmp -s - "$work/alone" || die "a check that stays finds something else: $(cat "$work/out")"
grep -q '"check_serves":true' "$work/out" && grep -q 'n is .*, [0-9] was promised' "$work/err" || die "what it said is not told: $(cat "$work/err")"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err" | head -n 1)
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'was promised' "$work/out" || die "the replay of a check that stays: $code, $(cat "$work/out")"
expect 2 --check-serves --check auto -- true
expect 2 --check-serves --check 'while read -r cut; do echo ok; echo and more; done' -- env data=sync name=sync sh -c "$writer"
grep -q 'more than one line' "$work/err" || die "a check that says too much: $(cat "$work/err")"
say "--- limits of what the recorded run may write: the preparation does not count"
five='for i in 1 2 3 4 5; do echo $i >> log && sync log; done'
budget() { # CODE SYNCS
    expect "$1" --persistence posix --states 5 --check true "${reports[@]}" --max-syncs "$2" --setup 'for i in 1 2 3; do echo x > s; sync s; done' -- sh -c "$five"
    grep -q '"option":"--max-syncs","allowed":'"$2"',"came_to":5,' "$work/cert.json" || die "the certificate does not say the budget: $(cat "$work/cert.json")"
}
budget 0 5
grep -q 'failures="0"' "$work/cert.junit.xml" && grep -q 'name="--max-syncs"></testcase>' "$work/cert.junit.xml" || die "a limit that held: $(cat "$work/cert.junit.xml")"
budget 1 4
grep -q 'the program asked for 5 syncs, and --max-syncs allows 4 syncs' "$work/err" && grep -q 'log (by sync)' "$work/err" || die "who synced is not told: $(cat "$work/err")"
grep -q 'failures="1"' "$work/cert.junit.xml" && grep -q '"ruleId":"beyond-its-write-budget"' "$work/cert.sarif" && grep -q 'Too much' "$work/cert.html" ||
    die "a limit that did not hold is missing in a report"
say "--- an oracle that reads what the command prints, and cuts from a sync on"
said='for i in 1 2 3; do echo $i > n.new && mv n.new n && $name . && echo "done $i"; done'
expect 1 --persistence posix --states 60 --oracle 'sed -n "s/^done //p"' --check "$check" -- env name=true sh -c "$said"
grep -q '"promises":3,' "$work/out" || die "the oracle's lines do not count: $(cat "$work/out")"
say "--- what fails by itself is no finding: nothing was explored"
expect 2 --persistence posix --states 60 --check true -- sh -c 'touch x; exit 7'
grep -q 'the command ended with 7, without any cut' "$work/err" || die "the command's own failure is not told: $(cat "$work/err")"
expect 2 --persistence posix --states 60 --setup 'exit 5' --check true -- touch x
expect 2 --persistence posix --states 60 --oracle 'exit 6' --check true -- touch x
expect 2 --persistence posix --states 60 --check 'exit 3' -- touch x
expect 2 --persistence posix --states 60 --oracle 'cat' --check true -- sh -c 'touch x; exit 7'
grep -q 'the command ended with 7' "$work/err" || die "the command's code is lost behind the oracle: $(cat "$work/err")"
early='echo 1 > n && echo 1 >&$FLASHLAB_ACK_FD && sync n . && sync n && echo 2 > m && sync m .'
expect 1 --persistence posix --states 60 --check "$check" -- sh -c "$early"
expect 0 --persistence posix --states 60 --after flush 2 --check "$check" -- sh -c "$early"
grep -q 'cuts before sync 2' "$work/out" || die "the certificate does not say which cuts were left out: $(cat "$work/out")"
expect 2 --persistence posix --after flush 99 --check true -- sh -c "$early"
expect 2 --after flush 0 --check true -- touch x
say "--- a check that does not always answer the same"
printf 'n=$(cat "%s/count" 2> /dev/null || echo 0); echo $((n + 1)) > "%s/count"; [ $((n %% 3)) -ne 2 ]\n' "$work" "$work" > "$work/moody"
expect 1 --persistence posix --states 30 --jobs 1 --check "sh '$work/moody'" -- sh -c 'for i in 1 2 3 4; do echo $i > $i; sync $i .; done'
grep -q '"findings":\[\]' "$work/out" && grep -q '"states_unsteady":[1-9]' "$work/out" && grep -q 'not repeatable' "$work/err" ||
    die "a moody check: $(cat "$work/err" "$work/out")"
say "--- the preparation is durable, and what a check leaves behind goes"
expect 0 --persistence posix --states 50 --setup 'mkdir d; echo 1 > d/f' --check '[ "$(cat d/f)" = 1 ] && [ ! -e junk ] && touch junk && rm -r d' -- touch x
say "--- what cannot be"
expect 2 --check true -- true
expect 2 --check 'exit 1' -- touch x
grep -q 'after the whole command' "$work/err" || die "a check that always fails: $(cat "$work/err")"
expect 2 --check '[ -e x ]' -- touch x
grep -q 'before the command' "$work/err" || die "a check that fails on nothing: $(cat "$work/err")"
expect 2 -- touch x
expect 2 --persistence fat --check true -- touch x
expect 2 --report cert.txt --check true -- touch x
expect 2 --check true -- no-such-program
expect 2 --check true -- false
code=0
"$FLASHLAB" crash torture --persistence ext5 -- true 2> /dev/null || code=$?
[[ $code -eq 2 ]] || die "a model that there is not must be refused"
say "--- a check that does not end, and a signal"
expect 1 --timeout 0.3 --states 3 --check 'if [ -s x ]; then :; elif [ -e x ]; then sleep 100; fi' -- sh -c 'echo 1 > x'
grep -q 'flashlab-torture' <(ls "$work") && die "a temporary folder is left: $(ls "$work")"
mkdir "$work/tmp"
TMPDIR=$work/tmp "$FLASHLAB" crash torture --explore --size 64M --json --check '[ -s x ] || [ ! -e x ] || { touch '"$work"'/busy; sleep 100; }' -- sh -c 'echo 1 > x' > "$work/out" 2> "$work/err" &
torture=$!
for _ in {1..1000}; do
    [[ -e $work/busy ]] && break
    sleep 0.02
done
kill -TERM $torture
code=0
wait $torture || code=$?
[[ $code -eq 143 ]] || die "explore by TERM ends with $code: $(cat "$work/err")"
grep -q '"partial":true' "$work/out" || die "explore by TERM: not marked partial: $(cat "$work/out")"
[[ -z $(ls -A "$work/tmp") ]] || die "explore by TERM left $(ls -A "$work/tmp")"
say "ok: explore"
