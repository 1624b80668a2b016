#!/usr/bin/env bash
# crash torture --under KIND: a program that syncs passes on the kernel's own file system, one that does not is caught, and the printed line shows it again.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
kind=${1:-ext4} cuts=${2:-3}
begin 1536
export TMPDIR=$work
nothing_left() { ! grep -q "$work" /proc/self/mounts && [[ -z $(losetup -l -n -O BACK-FILE 2> /dev/null | grep "$work") ]] || die "$1: a mount or a loop device is left"; }

torture() {
    local within=(--within 0.5)
    [[ " $* " == *' --explore '* ]] && within=()
    code=0
    "$FLASHLAB" crash torture --under "$kind" --size 512M "${within[@]}" --keep "$work" "$@" > "$work/out" 2> "$work/err" || code=$?
    if grep -Eq 'want root|is missing|this kernel has no' "$work/err"; then skip "$(cat "$work/err")"; fi
}
# The number is promised outside of the drive once its file and the name are synced.
program='i=0; while :; do i=$((i+1)); echo $i > n.new && sync n.new && mv n.new n && sync . || exit 0; echo $i > "$PROMISED"; done'
liar='i=0; while :; do i=$((i+1)); echo $i > n.new && mv n.new n || exit 0; echo $i > "$PROMISED"; done'
check='read -r was < "$PROMISED"; read -r is < n || is=0; [ "$is" -ge "$was" ]'
export PROMISED=$work/promised
echo 0 > "$PROMISED"
say "--- a program that keeps its word"
torture --cuts "$cuts" --seed 7 --check "$check" --json -- sh -c "echo 0 > '$PROMISED'; $program"
[[ $code -eq 0 ]] || die "code $code: $(cat "$work/out" "$work/err")"
grep -q "\"cuts\":$cuts,.*\"violations\":0,.*\"under\":\"$kind\"" "$work/out" || die "not every cut was made: $(cat "$work/out")"
say "$(cat "$work/out")"
nothing_left "a trial"
say "--- a program that promises what it did not sync"
torture --cuts 20 --seed 7 --check "$check" -- sh -c "echo 0 > '$PROMISED'; $liar"
[[ $code -eq 1 ]] || die "it was not caught: $code: $(cat "$work/out")"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err") || die "no replay line: $(cat "$work/err")"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay must fail as the trial did: $code, $(cat "$work/out")"
nothing_left "a finding"
say "--- promises outlive the cut: those before it are there for the check"
promising='i=0; while :; do i=$((i+1)); echo $i > n.new && sync n.new && mv n.new n && sync . || exit 0; echo $i >&$FLASHLAB_ACK_FD; done'
kept='was=$(tail -n 1 "$FLASHLAB_ACKS"); is=$(cat n 2> /dev/null || echo 0); [ "$is" -ge "${was:-0}" ]'
torture --cuts "$cuts" --seed 7 --check "$kept" --json -- sh -c "$promising"
[[ $code -eq 0 ]] && grep -q "\"cuts\":$cuts,.*\"violations\":0," "$work/out" || die "promises that are kept: $code: $(cat "$work/out" "$work/err")"
torture --cuts 20 --seed 7 --check "$kept" -- sh -c "${promising//sync ./true}"
[[ $code -eq 1 ]] || die "a promise of a name that was not synced was not caught: $code: $(cat "$work/out" "$work/err")"
line=$(grep -o 'flashlab crash torture --replay .*' "$work/err") || die "no replay line: $(cat "$work/err")"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay has not the promises of the cut: $code, $(cat "$work/out")"
nothing_left "promises"
say "--- mkfs that refuses a word is wrong usage in both ways"
for way in '' --explore; do
    torture $way --mkfs-options --no-such-word --check true -- true
    [[ $code -eq 2 ]] && grep -q 'mkfs' "$work/err" || die "a word that mkfs refuses $way: $code: $(cat "$work/err")"
done
say "--- drives that lie, under a program that keeps its word"
record='dd if=/dev/zero of=r bs=4096 count=1 conv=fsync 2> /dev/null; i=0; while :; do i=$((i+1)); yes "$(printf "%07d" $i)" | head -c 4096 | dd of=r bs=4096 count=1 iflag=fullblock oflag=direct conv=notrunc 2> /dev/null || exit 0; done'
for fault in lie_flush lie_order lie_tear; do
    [[ $fault$kind == lie_tearbtrfs ]] && continue # it overwrites nothing in place, and has checksums
    echo 0 > "$PROMISED"
    if [[ $fault == lie_tear ]]; then # what a drive may not do to 4 KiB that are overwritten in place
        torture --cuts 100 --seed 7 --fault "$fault" --check '[ "$(sort -u r | wc -l)" -le 1 ]' -- sh -c "$record"
    else
        torture --cuts 100 --seed 7 --fault "$fault" --check "$check" -- sh -c "echo 0 > '$PROMISED'; $program"
    fi
    [[ $code -eq 1 ]] || die "$fault was not caught: $code: $(cat "$work/out" "$work/err")"
    say "$fault: $(grep -m 1 'cut [0-9]*,' "$work/err")"
    nothing_left "$fault"
done
code=0
"$FLASHLAB" crash torture --fault lie_flush --explore -- true 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q -- '--fault is of a drive' "$work/err" || die "--fault with --explore: $code: $(cat "$work/err")"

say "--- one recorded run, and states of it"
recorded='i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo $i > n.new && sync n.new && mv n.new n && sync . && echo $i >&$FLASHLAB_ACK_FD; done'
exact='was=$(tail -n 1 "$FLASHLAB_ACKS"); was=${was:-0}; is=$(cat n 2> /dev/null || echo 0); [ "$is" -eq "$was" ] || [ "$is" -eq $((was + 1)) ]'
torture --explore --states $((cuts * 20)) --check "$exact" --json -- sh -c "$recorded" # the run without a cut kept all promises
[[ $code -eq 0 ]] || die "code $code: $(cat "$work/out" "$work/err")"
grep -q "\"states_tried\":$((cuts * 20)),\"violations\":0" "$work/out" || die "not every state was tried: $(cat "$work/out")"
say "$(cat "$work/out")"
nothing_left "an exploration"
torture --explore --states $((cuts * 20)) --check "$kept" -- sh -c "${recorded//sync ./true}; sync -f ."
[[ $code -eq 1 ]] || die "a promise of a name that was not synced was not caught: $code: $(cat "$work/out" "$work/err")"
line=$(grep -o 'flashlab crash torture --under .*' "$work/err") || die "no replay line: $(cat "$work/err")"
code=0
(eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/out" || code=$?
[[ $code -eq 1 ]] && grep -q 'holds *false' "$work/out" || die "the replay must fail as the state did: $code, $(cat "$work/out")"
nothing_left "a finding of an exploration"
say "--- flushes around which nothing was tried are told, with the remedy; a check that takes too long has failed"
synced='for i in 1 2 3 4; do echo $i > f$i; sync f$i; done'
torture --explore --states 4 --check true --json -- sh -c "$synced"
flushes=$(grep -o '"flush_points":[0-9]*' "$work/out" | tr -dc 0-9)
remedy=$(grep -o -- "flushes no state was tried: --states [0-9]*" "$work/err" | grep -o '[0-9]*$') || die "what was left out is not told: $(cat "$work/err" "$work/out")"
grep -Eq '"flush_points_tried":[12],' "$work/out" && [[ $remedy -eq $((4 * flushes)) ]] || die "4 states, $flushes flushes: $(cat "$work/err" "$work/out")"
torture --explore --states "$remedy" --check true --json -- sh -c "$synced"
tried=$(grep -o '"flush_points_tried":[0-9]*' "$work/out" | tr -dc 0-9) flushes=$(grep -o '"flush_points":[0-9]*' "$work/out" | tr -dc 0-9)
[[ $code -eq 0 && $tried -eq $flushes || $((4 * flushes)) -gt $remedy ]] || die "the remedy does not help: $(cat "$work/err" "$work/out")"
torture --explore --states 20 --setup 'echo 1 > a; sync' --check '[ -e a ] || exit 1; rm a; sync' -- sh -c 'echo 2 > b; sync'
[[ $code -eq 0 ]] || die "what a check changes is taken for the program's: $code: $(cat "$work/err" "$work/out")"
torture --explore --states 20 --timeout 0.5 --check '[ -e f4 ] || sleep 60' -- sh -c "$synced"
[[ $code -eq 1 ]] && grep -q 'it took longer than 0.5 s' "$work/err" && grep -q -- '--replay .* --timeout 0.5$' "$work/err" ||
    die "a check that hangs: $code: $(cat "$work/err" "$work/out")"
nothing_left "a check that hangs"

say "--- a signal"
"$FLASHLAB" crash torture --under "$kind" --size 512M --cuts 100 -- sh -c "$program" > "$work/out" 2> "$work/err" &
runner=$!
for ((tries = 0; tries < 300; ++tries)); do grep -q " $work/.*/$kind $kind " /proc/self/mounts && break; sleep 0.1; done
sleep 0.5
kill -TERM $runner
wait $runner || true
for ((tries = 0; tries < 100; ++tries)); do grep -q "$work" /proc/self/mounts || break; sleep 0.1; done
nothing_left "a signal"
say "$kind: all well"
