#!/usr/bin/env bash
# Faults at run time: each is acknowledged when it is in force, seen by the program, listed, cleared, and logged. What a cleared fault touched works again.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

fault() { "$FLASHLAB" ctl "$mnt" fault "$@" --json > "$work/answer" 2> "$work/err"; }
# WORDS...: sets `number`
add() {
    fault add "$@" || die "fault add $*: $(cat "$work/err")"
    number=$(sed -n 's/.*"number":\([0-9]*\).*/\1/p' "$work/answer")
    [[ -n $number ]] || die "fault add $* is not acknowledged: $(cat "$work/answer")"
    fault list && grep -q "\"number\":$number," "$work/answer" || die "fault $number is not listed"
}
clear_it() {
    fault clear "$number" && grep -q "\"number\":$number,.*\"struck\":[1-9]" "$work/answer" || die "fault $number, cleared, never struck: $(cat "$work/answer" "$work/err")"
    fault list && ! grep -q "\"number\":$number," "$work/answer" || die "fault $number is still listed"
}
fails_with() { # TEXT COMMAND...
    local text=$1
    shift
    if "$@" > /dev/null 2> "$work/err"; then die "succeeded under a fault: $*"; fi
    grep -Eq "$text" "$work/err" || die "'$text' expected of '$*': $(cat "$work/err")"
}
ask() { "$FLASHLAB" query "$device" "$1" --csv | tail -n 1; }
remount() { # after the drive has become read-only
    unmount_roughly
    mount_device "$@"
}
unmount_roughly() {
    "$FLASHLAB" umount "$mnt" > /dev/null 2>&1 || true
    wait "$daemon" 2> /dev/null || true
    daemon=""
}

begin 1024
make_device --size 256M
mount_device
mkdir "$mnt/dir"
echo kept > "$mnt/dir/a.db"
sync "$mnt/dir/a.db"

say "--- calls: the n-th write, then the next one works; other files do not fail"
add eio op=write 'path=*.db' nth=2
echo one >> "$mnt/dir/a.db"
echo other >> "$mnt/dir/b.txt"
fails_with 'I/O error|Input/output error' bash -c "printf two >> '$mnt/dir/a.db'"
echo three >> "$mnt/dir/a.db"
clear_it
[[ $(cat "$mnt/dir/a.db") == $'kept\none\nthree' ]] || die "a failed write left something: $(cat "$mnt/dir/a.db")"
add enospc 'path=dir/a.*' sticky
fails_with 'No space left' bash -c "printf x >> '$mnt/dir/a.db'"
fails_with 'No space left' bash -c "printf x >> '$mnt/dir/a.db'"
clear_it
printf 'four\n' >> "$mnt/dir/a.db" || die "after clear the write fails"
add eio 'path=a.db'
fails_with 'I/O error|Input/output error' sync "$mnt/dir/a.db"
sync "$mnt/dir/a.db" || die "the second fsync"
clear_it
add eio op=rename
fails_with 'I/O error|Input/output error' mv "$mnt/dir/b.txt" "$mnt/dir/c.txt"
clear_it
[[ -e $mnt/dir/b.txt && ! -e $mnt/dir/c.txt ]] || die "a refused rename renamed"
add read_eio 'path=b.txt' sticky
fails_with 'I/O error|Input/output error' dd if="$mnt/dir/b.txt" iflag=direct of=/dev/null bs=4k
clear_it
dd if="$mnt/dir/b.txt" iflag=direct of=/dev/null bs=4k 2> /dev/null || die "after clear the read fails"

say "--- slow requests: only the caller waits"
add stall op=fsync ms=700 'path=a.db'
from=$(now_ms)
echo five >> "$mnt/dir/a.db" && sync "$mnt/dir/a.db" &
slow=$!
sleep 0.1
stat "$mnt/dir" > /dev/null
echo beside > "$mnt/dir/beside"
wait "$slow"
(($(now_ms) - from >= 700)) || die "the stalled fsync took $(($(now_ms) - from)) ms"
clear_it

say "--- words that are wrong are refused and change nothing"
for words in 'eioo' 'eio op=nothing' 'eio nth=0' 'stall' 'die_dead' 'die_dead die=9999' 'eio die=1' 'bit_rot path=x' 'eio path=' 'eio nth=1 nth=2' 'read_eio op=write'; do
    # shellcheck disable=SC2086 # words
    if fault add $words; then die "accepted: $words"; fi
    grep -q 'flashlab: ctl' "$work/err" || die "no message for '$words': $(cat "$work/err")"
done
fault list && grep -q '"faults":\[\]' "$work/answer" || die "something is in force: $(cat "$work/answer")"
if fault clear 77; then die "a fault that is not there was cleared"; fi

say "--- the flash: failing programs and erases lose nothing, bit errors are EIO, a die dies"
head -c 8M /dev/urandom > "$work/data"
add program_fail times=3
cp "$work/data" "$mnt/data" && sync "$mnt/data" || die "programs that fail must be survived"
clear_it
cmp "$work/data" "$mnt/data" || die "a failed program lost data"
[[ $("$FLASHLAB" smart "$mnt" --json | sed -n 's/.*"bad_user_nand_blocks_grown":\([0-9]*\).*/\1/p') -ge 1 ]] || die "no block went bad"
add bit_rot sticky
fails_with 'I/O error|Input/output error' dd if="$mnt/data" iflag=direct of=/dev/null bs=1M
clear_it
dd if="$mnt/data" iflag=direct bs=1M 2> /dev/null | cmp - "$work/data" || die "after clear the data do not read"
add die_dead die=0
fails_with 'I/O error|Input/output error' dd if="$mnt/data" iflag=direct of=/dev/null bs=1M
cp "$work/data" "$mnt/more" 2> /dev/null && sync "$mnt/more" 2> /dev/null || say "the drive takes no more writes without die 0"
clear_it
dd if="$mnt/data" iflag=direct bs=1M 2> /dev/null | cmp - "$work/data" || die "when the die is back, its data are"

say "--- the log"
"$FLASHLAB" ctl "$mnt" flush 2> /dev/null || true
rows=$(ask "SELECT count(*) FROM fault f JOIN fault_action_name a USING(action) WHERE a.name='set'")
[[ $rows -ge 9 ]] || die "only $rows faults were logged"
[[ $(ask "SELECT count(*) FROM fault f JOIN fault_action_name a USING(action) WHERE a.name='struck' AND path='/dir/a.db' AND error=28") -eq 2 ]] || die "the strikes are not in the log"
[[ $(ask "SELECT count(*) FROM fault f JOIN fault_action_name a USING(action) WHERE a.name='cleared'") -eq $rows ]] || die "not every clear is in the log"
unmount_roughly

say "--- the host: its errors make the drive read-only until the next mount"
rm -rf "$device"
make_device --size 64M
printf '# a plan\nhost_enospc nth=3 sticky\n\neio op=mkdir path=* # and a directory\n' > "$work/plan"
mount_device -o "fault_plan=$work/plan"
fault list && [[ $(grep -o '"number"' "$work/answer" | wc -l) -eq 2 ]] || die "the plan is not in force: $(cat "$work/answer")"
fails_with 'I/O error|Input/output error' mkdir "$mnt/d"
echo x > "$mnt/f"
sync "$mnt/f" 2> /dev/null || true
head -c 1M /dev/urandom > "$mnt/g" 2> /dev/null || true
fails_with 'No space left' sync "$mnt/g"
fails_with 'No space left' "$FLASHLAB" ctl "$mnt" flush
"$FLASHLAB" smart "$mnt" --json > "$work/smart" 2> "$work/told"
grep -q 'takes no more writes: copy the files' "$work/told" || die "smart advises what cannot be done: $(cat "$work/told")"
grep -q '"critical_warning":9,.*"avail_spare":0,' "$work/smart" || die "smart does not say that the drive writes no more: $(cat "$work/smart")"
"$FLASHLAB" info "$mnt" | grep -q 'read_only *true' || die "info does not say so"
remount
echo y > "$mnt/h" && sync "$mnt/h" || die "after the next mount the drive writes"
unmount_device
check_device

say "--- a worn-out drive is mounted, checked and closed, whatever buffer or cache it has, wherever it keeps its metadata"
for options in "--preset samsung-980pro-1t --size 24M" "--preset micron-7450-max --size 32M" "--ftl page_map --size 64M --metadata journal" \
    "--preset samsung-980pro-1t --size 24M --metadata journal"; do
    rm -rf "$device"
    # shellcheck disable=SC2086 # words
    make_device $options
    ulimit -Sv 4000000 # were a block that fails collected again and again, it would take all memory
    mount_device
    ulimit -Sv unlimited
    head -c 100K /dev/urandom > "$work/a"
    cp "$work/a" "$mnt/a" && sync "$mnt/a"
    add program_fail times=0
    head -c 300K /dev/urandom > "$mnt/b" 2> /dev/null || true
    fails_with 'Read-only|Input/output error' timeout 60 sync "$mnt/b"
    unmount_roughly
    code=0 && "$FLASHLAB" fsck "$device" > "$work/out" 2>&1 || code=$?
    [[ $code -lt 4 ]] || die "$options: fsck of a worn-out drive ends with $code: $(cat "$work/out")"
    mount_device
    cmp "$work/a" "$mnt/a" || die "$options: what had been synced is not there"
    "$FLASHLAB" smart "$mnt" --json | grep -q '"critical_warning":[89]' || die "$options: smart does not say that the drive is worn out"
    "$FLASHLAB" umount "$mnt" > "$work/out" 2>&1 || die "$options: nothing was written, and umount warns: $(cat "$work/out")"
    wait "$daemon" 2> /dev/null || die "$options: the daemon failed"
    daemon=""
done
say "--- pages whose record never came, on a drive that takes no trim, are no damage"
rm -rf "$device"
make_device --size 16M --ftl page_map --metadata journal
mount_device -o fault=program_fail:nth=6:times=0
dd if=/dev/zero of="$mnt/a" bs=64k count=4 conv=fsync 2> /dev/null || true
head -c 300K /dev/urandom > "$mnt/a" 2> /dev/null || true
fails_with 'Read-only|Input/output error' "$FLASHLAB" ctl "$mnt" flush
clock=$("$FLASHLAB" ctl "$mnt" stats --json | grep -o '"clock_ns": *[0-9]*' | grep -o '[0-9]*$')
"$FLASHLAB" ctl "$mnt" powercut --at gc --seed 3 > "$work/out" 2>&1 || die "powercut: $(cat "$work/out")"
detach
stop_daemon
code=0 && "$FLASHLAB" fsck "$device" > "$work/out" 2>&1 || code=$?
[[ $code -lt 4 ]] || die "fsck of a drive that wore out in the middle of a file ends with $code: $(cat "$work/out")"
cut=$(grep -o '"clock_ns": *[0-9]*' "$device/counters.json" | grep -o '[0-9]*$' || true)
[[ -z $cut || $cut -lt $((clock + 60000000000)) ]] || die "a power cut put the clock from $clock to $cut ns"
code=0
"$FLASHLAB" mount "$device" "$mnt" -o fault=nonsense 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q "no fault is called 'nonsense'" "$work/err" || die "-o fault=nonsense: $code, $(cat "$work/err")"
say "ok: faults"
