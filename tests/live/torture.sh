#!/usr/bin/env bash
# crash torture: a right program passes, a wrong belief is caught, and the line that is printed shows the same again.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"

begin 512
export TMPDIR=$work
# Each number is in the file before the next one is written: after a cut the file holds a prefix, and what was synced stays.
program='i=$(cat n 2>/dev/null || echo 0); while [ $i -lt 100000 ]; do i=$((i+1)); echo $i > n.new && sync n.new && mv n.new n || exit 0; done'
check='[ ! -e n ] || grep -Eqx "[0-9]+" n'
cuts=$(scaled 3 30)
for metadata in pram journal; do
    "$FLASHLAB" crash torture --cuts "$cuts" --within 0.5 --size 64M --metadata "$metadata" --seed 7 --check "$check" --json -- sh -c "$program" > "$work/out" ||
        die "torture ($metadata): $(cat "$work/out")"
    say "$metadata: $(cat "$work/out")"
    grep -q "\"cuts\":$cuts,.*\"violations\":0," "$work/out" || die "not every cut was made"
done
say "--- a place for failed states that is none: told before anything runs"
for way in '' '--explore --persistence posix'; do
    code=0
    read -ra words <<< "$way"
    "$FLASHLAB" crash torture "${words[@]}" --size 64M --keep "$work/nowhere" --check 'exit 3' -- sh -c "echo ran > '$work/ran'" > "$work/out" 2> "$work/err" || code=$?
    if [[ $code -ne 2 || -e $work/ran ]] || ! grep -q -- '--keep .*make it' "$work/err"; then die "--keep $way: code $code: $(cat "$work/err")"; fi
done
say "--- a check that fails"
code=0
"$FLASHLAB" crash torture --cuts 2 --within 0.5 --size 64M --keep "$work" --check 'exit 3' -- sh -c "$program" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] || die "a check that fails must end with 1, not $code"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err") || die "no replay line: $(cat "$work/err")"
say "$line"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay must fail as the trial did: $code, $(cat "$work/out")"
kept=$(echo "$work"/flashlab-cut-*)
"$FLASHLAB" crash torture --replay "$kept" --check "$check" > "$work/out" || die "the replay of another check: $(cat "$work/out")"
say "--- a check that takes longer than it may has failed; without a limit it has its time"
code=0
"$FLASHLAB" crash torture --cuts 2 --within 0.2 --size 64M --keep "$work" --timeout 0.3 --check 'sleep 60' -- sh -c "$program" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] && grep -q 'it took longer than 0.3 s' "$work/err" && grep -q -- '--timeout 0.3$' "$work/err" || die "a check that hangs: $code, $(cat "$work/out" "$work/err")"
"$FLASHLAB" crash torture --cuts 1 --within 0.2 --size 64M --check 'sleep 1' -- sh -c "$program" > "$work/out" || die "a slow check: $(cat "$work/out")"
say "--- promises outlive the cut: the check has those before it, the replay has them again"
promising='i=$(cat n 2>/dev/null || echo 0); while :; do i=$((i+1)); echo $i > n.new && sync n.new && mv n.new n && sync . || exit 0; echo $i >&$FLASHLAB_ACK_FD; done'
kept='was=$(tail -n 1 "$FLASHLAB_ACKS"); is=$(cat n 2> /dev/null || echo 0); [ -n "$was" ] && [ "$is" -ge "$was" ]'
for model in strict posix; do
    "$FLASHLAB" crash torture --cuts "$cuts" --within 0.5 --size 64M --seed 7 --keep "$work" --after flush 3 --persistence $model --check "$kept" -- sh -c "$promising" \
        > "$work/out" 2> "$work/err" || die "promises that are kept ($model): $(cat "$work/out" "$work/err")"
done
code=0
"$FLASHLAB" crash torture --cuts 20 --within 0.5 --size 64M --seed 7 --keep "$work" --persistence posix --check "$kept" -- sh -c "${promising//sync/true}" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] || die "promises that are not kept: $code, $(cat "$work/out" "$work/err")"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err") || die "no replay line: $(cat "$work/err")"
[[ -s $(ls -d "$work"/flashlab-cut-7-* | tail -n 1)/acks ]] || die "the promises are not kept with the state"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay has not the promises of the cut: $code, $(cat "$work/out")"
say "--- a check that cannot be run is no finding"
code=0
"$FLASHLAB" crash torture --cuts 2 --within 0.2 --size 64M --keep "$work" --check ./no-such-check -- sh -c "$program" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'the check ended with 127' "$work/err" || die "no such check: $code, $(cat "$work/out" "$work/err")"
say "--- a command that leaves a process behind is told, and not waited for"
code=0
timeout 60 "$FLASHLAB" crash torture --explore --check true -- sh -c 'setsid sleep 100 > /dev/null 2>&1 & echo a > f; sync f' > "$work/out" 2> "$work/err" || code=$?
pkill -f 'sleep 100$' || true
[[ $code -eq 2 ]] && grep -q 'let the command end what it starts' "$work/err" || die "a process left behind: $code, $(cat "$work/err")"
say "--- a check that fails, and passes when all is made anew"
printf 'n=$(cat "%s/count" 2> /dev/null || echo 0); echo $((n + 1)) > "%s/count"; [ $((n %% 2)) -eq 1 ]\n' "$work" "$work" > "$work/moody"
code=0
"$FLASHLAB" crash torture --cuts 2 --within 0.2 --size 64M --keep "$work" --check "sh '$work/moody'" --json -- sh -c "$program" > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] && grep -q '"cuts":2,.*"violations":0,"not_repeatable":2,' "$work/out" && grep -q 'not repeatable: the check ended with 1' "$work/err" ||
    die "a moody check: $code, $(cat "$work/out" "$work/err")"
say "--- no cut before the N-th sync of a mount was answered"
# The second sync comes late: a cut of --after flush 1 comes before it, one of --after flush 2 never does. fdatasync and fsync of a directory count, too.
late='sleep 0.3; echo 1 > r$FLASHLAB_CUT; sync r$FLASHLAB_CUT; sleep $PAUSE; echo 2 >> r$FLASHLAB_CUT; sync -d r$FLASHLAB_CUT; sync .; sleep 1000'
after() { # CODE MODEL FLUSHES LINES-THAT-MUST-BE-THERE PAUSE
    local code=0
    "$FLASHLAB" crash torture --cuts 2 --within 0.2 --size 64M --keep "$work" --persistence "$2" --after flush "$3" --json \
        --check "[ \"\$(wc -l < r\$FLASHLAB_CUT)\" -ge $4 ]" -- env PAUSE="$5" sh -c "$late" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $1 ]] || die "--after flush $3 ($2, $4 lines): $code instead of $1: $(cat "$work/err" "$work/out")"
}
after 0 strict 1 1 0.3
after 1 strict 1 2 30 # nothing says that the second is there
after 0 strict 2 2 0.3
after 0 posix 3 2 0.3
grep -q '"cuts":2,' "$work/out" || die "--after flush: not every cut was made: $(cat "$work/out")"
if [[ -n ${full-} ]]; then # the patience with a command that makes too few is a minute
    after 1 strict 99 1 0.3
    grep -q 'the command made [0-9]* within a minute' "$work/err" || die "--after flush 99: what is missing is not told: $(cat "$work/err")"
fi
"$FLASHLAB" crash torture --after flush 0 -- true 2> /dev/null && die "--after flush 0 must be refused"
say "--- a command that fails by itself"
code=0
"$FLASHLAB" crash torture --size 64M -- sh -c 'echo no such luck; exit 4' > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'no such luck' "$work/err" || die "the command's own failure is no finding and must be told: $code, $(cat "$work/err")"
say "--- signals: the command, the mount and the folder go, what was found is told"
declare -A code_of=([INT]=130 [TERM]=143 [HUP]=129)
mkdir "$work/tmp"
for signal in INT TERM HUP; do
    TMPDIR=$work/tmp "$FLASHLAB" crash torture --within 3600 --size 64M --json -- sh -c 'echo $$ > pid.new && mv pid.new pid; sleep 1000 & wait' > "$work/out" 2> "$work/err" &
    torture=$!
    pid=
    for _ in {1..500}; do
        pid=$(cat "$work"/tmp/flashlab-torture.*/mnt/pid 2> /dev/null) && break
        sleep 0.02
    done
    [[ -n $pid ]] || die "the command of a torture does not come up: $(cat "$work/err")"
    kill "-$signal" $torture
    code=0
    wait $torture || code=$?
    [[ $code -eq ${code_of[$signal]} ]] || die "torture by $signal ends with $code: $(cat "$work/err")"
    grep -q '"cuts":0,.*"partial":true' "$work/out" || die "torture by $signal: not marked partial: $(cat "$work/out")"
    [[ ! -e /proc/$pid ]] || die "torture by $signal left the command running"
    [[ -z $(ls -A "$work/tmp") ]] || die "torture by $signal left $(ls -A "$work/tmp")"
    grep -q "$work/tmp" /proc/self/mountinfo && die "torture by $signal left a mount"
done
say "ok: torture"
