#!/usr/bin/env bash
# Requests through io_uring, and birth times in stat(1): where libfuse and the kernel have them. What must hold where they have not is checked everywhere.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256

# Who waits in a mount that does not answer can be ended by no signal. So each step has a limit: after it the kernel gives up the mount's requests, the
# daemons are killed, and the scenario fails by the name of the step.
step() { # SECONDS WHAT
    echo "$((EPOCHSECONDS + $1)) $1 $2" > "$work/next_step"
    mv "$work/next_step" "$work/step"
}
give_up_requests() {
    local number words
    awk -v below="$work/" 'index($5, below) == 1 { sub(/.*:/, "", $3); print $3 }' /proc/self/mountinfo |
        while read -r number; do echo 1 > "/sys/fs/fuse/connections/$number/abort"; done
    for words in /proc/[0-9]*/cmdline; do
        if tr '\0' ' ' < "$words" | grep -qF "mount $device $mnt "; then kill -9 "$(basename "${words%/cmdline}")"; fi
    done
} 2> /dev/null
watch_steps() {
    local latest limit what
    set +e
    while read -r latest limit what 2> /dev/null < "$work/step"; do
        if ((EPOCHSECONDS > latest)); then
            printf 'FAILED: %s: not done after %s s\n' "$what" "$limit" >&2
            kill -TERM $$
            give_up_requests
            return
        fi
        sleep 0.2
    done
}
trap "exit 1" TERM # the message is out
step 60 "the first mount"
watch_steps &
disown
make_device --size 64M
transport() { "$FLASHLAB" ctl "$mnt" stats --json | sed -E 's/.*"transport":"([a-z_]*)".*/\1/'; }

# The benchmark of the rings, as short as can be, ends with this code.
measure() {
    command -v fio python3 > "$work/tools" && [[ $(wc -l < "$work/tools") -eq 2 ]] || { say "fio or python3 is missing: the benchmark is not run"; return 1; }
    code=0
    timeout -k 5 100 python3 "$FLASHLAB_TREE/tools/bench_io_uring.py" "$FLASHLAB" 1 160 > "$work/measured" 2>&1 || code=$?
    if grep -q '/dev/shm are not free' "$work/measured"; then say "too little memory: the benchmark is not run" && return 1; fi
    [[ $code -eq $1 ]] || die "bench_io_uring.py: code $code: $(cat "$work/measured")"
}

# Words that mean nothing are refused.
code=0
"$FLASHLAB" mount "$device" "$mnt" -o io_uring=perhaps 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'io_uring=perhaps: allowed: auto, on, off' "$work/err" || die "io_uring=perhaps: code $code, $(cat "$work/err")"

# Asked for in vain it says why, and the mount serves all the same.
mount_device -o io_uring=on
have=$(transport)
echo "with io_uring=on requests come through $have"
if [[ $have != io_uring ]]; then
    grep -q 'io_uring=on: .*; requests come through /dev/fuse' "$work"/daemon*.log || die "no word of why io_uring is not used"
    echo served > "$mnt/file"
    [[ $(cat "$mnt/file") == served ]] || die "the mount does not serve through /dev/fuse"
    "$FLASHLAB" ctl "$mnt" set latency=real || die "latency=real is refused without rings"
    unmount_device
    check_device
    step 120 "the benchmark"
    if measure 2 && ! grep -q 'requests come through dev_fuse' "$work/measured"; then die "it does not say what is missing: $(cat "$work/measured")"; fi
    skip "this host has no FUSE over io_uring"
fi

# No answer of a ring may wait for simulated time: both ways to ask for that are refused.
code=0
"$FLASHLAB" ctl "$mnt" set latency=real 2> "$work/err" || code=$?
[[ $code -ne 0 ]] && grep -q 'mount without it' "$work/err" || die "latency=real beside io_uring: code $code, $(cat "$work/err")"
born=$(stat -c %W "$mnt")
[[ $born -gt 1000000000 ]] || die "stat shows no birth: $born"

step 120 "four programs at once"
# The same bytes come back, from four programs at once, in small and in large requests.
programs=()
for i in 1 2 3 4; do
    (
        dd if=/dev/urandom of="$work/host$i" bs=64k count=40 2> /dev/null
        cp "$work/host$i" "$mnt/copy$i"
        for n in $(seq 100); do echo "$n" >> "$mnt/lines$i"; done
        for n in $(seq 50); do mkdir "$mnt/d$i.$n" && rmdir "$mnt/d$i.$n"; done
    ) &
    programs+=($!)
done
for program in "${programs[@]}"; do wait "$program" || die "a program beside three others failed"; done
unmount_device
check_device
mount_device -o io_uring=on
for i in 1 2 3 4; do
    cmp "$work/host$i" "$mnt/copy$i" || die "copy$i is not what was written"
    [[ $(wc -l < "$mnt/lines$i") -eq 100 ]] || die "lines$i has $(wc -l < "$mnt/lines$i") lines"
done
dd if=/dev/zero of="$mnt/direct" bs=1M count=4 oflag=direct 2> /dev/null || die "direct writes of 1 MiB"
cmp -n $((4 << 20)) /dev/zero "$mnt/direct" || die "direct writes of 1 MiB"

step 60 "a stalled answer"
# A stalled answer comes late and holds nobody up for good.
"$FLASHLAB" ctl "$mnt" fault add 'stall op=fsync ms=300' > "$work/out" 2>&1 || die "fault add: $(cat "$work/out")"
start=$(date +%s%N)
echo x > "$mnt/stalled"
sync "$mnt/stalled" || die "a stalled fsync failed"
[[ $(($(date +%s%N) - start)) -ge 300000000 ]] || die "the answer was not late"
"$FLASHLAB" ctl "$mnt" fault clear > /dev/null

step 60 "an open file after a power cut"
# After a cut open files answer EIO, whichever way their requests take; then all is as after any cut.
echo kept > "$mnt/kept"
sync "$mnt/kept"
exec 8< "$mnt/copy1"
cut_power powercut 3
if dd bs=4096 skip=200 count=1 iflag=direct <&8 > /dev/null 2> "$work/err"; then die "an open file can still be read after the cut"; fi
grep -qi 'input/output error' "$work/err" || die "after the cut: $(cat "$work/err")"
exec 8<&-
step 60 "the mount after a power cut"
mount_device -o io_uring=on
[[ $(transport) == io_uring ]] || die "after a cut io_uring is not used"
[[ $(cat "$mnt/kept") == kept ]] || die "what was synced is lost"

# Killed under load, the programs end, and the drive recovers.
step 60 "programs of a daemon that was killed"
programs=()
for i in 1 2 3; do
    (while echo x >> "$mnt/load$i"; do :; done) 2> /dev/null &
    programs+=($!)
done
sleep 0.3
cut_power kill 0
for program in "${programs[@]}"; do wait "$program" || true; done
step 60 "the recovery of a daemon that was killed"
recover_device
[[ $(cat "$mnt/kept") == kept ]] || die "what was synced is lost after kill -9"
unmount_device
check_device

# Mounted and unmounted again and again: no thread of a ring outlives its session.
for turn in $(seq 10); do
    step 60 "mount and unmount, turn $turn"
    mount_device -o io_uring=on
    ls "$mnt" > /dev/null
    unmount_device
done
check_device

step 120 "the benchmark"
if measure 0; then [[ $(grep -c ' us | ' "$work/measured") -eq 6 ]] || die "it does not measure six loads: $(cat "$work/measured")"; fi
