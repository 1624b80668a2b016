#!/usr/bin/env bash
# Requests through io_uring, and birth times in stat(1): where libfuse and the kernel have them. What must hold where they have not is checked everywhere.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
make_device --size 64M
transport() { "$FLASHLAB" ctl "$mnt" stats --json | sed -E 's/.*"transport":"([a-z_]*)".*/\1/'; }

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
    skip "this host has no FUSE over io_uring"
fi

# No answer of a ring may wait for simulated time: both ways to ask for that are refused.
code=0
"$FLASHLAB" ctl "$mnt" set latency=real 2> "$work/err" || code=$?
[[ $code -ne 0 ]] && grep -q 'mount without it' "$work/err" || die "latency=real beside io_uring: code $code, $(cat "$work/err")"
born=$(stat -c %W "$mnt")
[[ $born -gt 1000000000 ]] || die "stat shows no birth: $born"

# The same bytes come back, from four programs at once, in small and in large requests.
for i in 1 2 3 4; do
    (
        dd if=/dev/urandom of="$work/host$i" bs=64k count=40 2> /dev/null
        cp "$work/host$i" "$mnt/copy$i"
        for n in $(seq 100); do echo "$n" >> "$mnt/lines$i"; done
        for n in $(seq 50); do mkdir "$mnt/d$i.$n" && rmdir "$mnt/d$i.$n"; done
    ) &
done
for job in $(jobs -p); do [[ $job == "${daemon:-none}" ]] || wait "$job" || die "a program beside three others failed"; done
unmount_device
check_device
mount_device -o io_uring=on
for i in 1 2 3 4; do
    cmp "$work/host$i" "$mnt/copy$i" || die "copy$i is not what was written"
    [[ $(wc -l < "$mnt/lines$i") -eq 100 ]] || die "lines$i has $(wc -l < "$mnt/lines$i") lines"
done
dd if=/dev/zero of="$mnt/direct" bs=1M count=4 oflag=direct 2> /dev/null || die "direct writes of 1 MiB"
cmp -n $((4 << 20)) /dev/zero "$mnt/direct" || die "direct writes of 1 MiB"

# A stalled answer comes late and holds nobody up for good.
"$FLASHLAB" ctl "$mnt" fault add 'stall op=fsync ms=300' > "$work/out" 2>&1 || die "fault add: $(cat "$work/out")"
start=$(date +%s%N)
echo x > "$mnt/stalled"
sync "$mnt/stalled" || die "a stalled fsync failed"
[[ $(($(date +%s%N) - start)) -ge 300000000 ]] || die "the answer was not late"
"$FLASHLAB" ctl "$mnt" fault clear > /dev/null

# After a cut open files answer EIO, whichever way their requests take; then all is as after any cut.
echo kept > "$mnt/kept"
sync "$mnt/kept"
exec 8< "$mnt/copy1"
cut_power powercut 3
if dd bs=4096 skip=200 count=1 iflag=direct <&8 > /dev/null 2> "$work/err"; then die "an open file can still be read after the cut"; fi
grep -qi 'input/output error' "$work/err" || die "after the cut: $(cat "$work/err")"
exec 8<&-
mount_device -o io_uring=on
[[ $(transport) == io_uring ]] || die "after a cut io_uring is not used"
[[ $(cat "$mnt/kept") == kept ]] || die "what was synced is lost"

# Killed under load, the programs end, and the drive recovers.
for i in 1 2 3; do (while echo x >> "$mnt/load$i"; do :; done) 2> /dev/null & done
sleep 0.3
cut_power kill 0
wait
recover_device
[[ $(cat "$mnt/kept") == kept ]] || die "what was synced is lost after kill -9"
unmount_device
check_device

# Mounted and unmounted again and again: no thread of a ring outlives its session.
for _ in $(seq 10); do
    mount_device -o io_uring=on
    ls "$mnt" > /dev/null
    unmount_device
done
check_device
