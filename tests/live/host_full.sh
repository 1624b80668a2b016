#!/usr/bin/env bash
# The host's disk under the images runs full while the mount is written to: the daemon lives and answers with errors, what was acknowledged stays, fsck is clean.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
[[ $(id -u) -eq 0 ]] || skip "needs root, to mount a small host disk"
mkdir "$work/small"
mount -t tmpfs -o size=100m small "$work/small" 2> /dev/null || skip "cannot mount a tmpfs here"
free_host_disk() { detach; stop_daemon; umount -l "$work/small" 2> /dev/null || true; }
trap 'result=$?; free_host_disk; finish $result' EXIT
device=$work/small/device

make_device --size 512M
mount_device --log requests
write_one() { # NUMBER: its name is kept only when the fsync was acknowledged
    head -c 1048576 /dev/urandom > "$work/source"
    dd if="$work/source" of="$mnt/f$1" bs=256k conv=fsync 2> "$work/dd.err" || { cat "$work/dd.err" >> "$work/refusals"; return 1; }
    echo "$(sha256sum < "$work/source" | cut -d' ' -f1)  $mnt/f$1" >> "$work/acknowledged"
}
refused=0
for number in $(seq 120); do write_one "$number" || refused=$((refused + 1)); done
say "$(wc -l < "$work/acknowledged") files of 1 MiB acknowledged, $refused refused"
((refused > 0)) || die "the host's disk was meant to run full"
[[ -s $work/acknowledged ]] || die "the host's disk was full from the start"
kill -0 "$daemon" || die "the daemon died"
if grep -v 'No space left on device\|records \|copied' "$work/refusals" | grep .; then die "a full host is told as something else than ENOSPC"; fi
grep -q 'fsync.*No space left\|closing.*No space left\|fsync failed' "$work/refusals" || die "no fsync told of the full host: $(sort "$work/refusals" | uniq -c)"
sleep 1.2
grep -q "host's disk is full" "$work/daemon.log" || die "the daemon does not say that the host is full: $(cat "$work/daemon.log")"
stat -f "$mnt" > /dev/null || die "the mount does not answer"
sha256sum --quiet -c "$work/acknowledged" || die "acknowledged data cannot be read while the host's disk is full"
code=0 # the close cannot be written: said, and left to the recovery
"$FLASHLAB" umount "$mnt" > /dev/null 2> "$work/umount.err" || code=$?
[[ $code -eq 1 ]] || die "umount ended with code $code though the device could not be closed"
grep -q 'not closed cleanly' "$work/umount.err" || die "umount said: $(cat "$work/umount.err")"
detach
stop_daemon
mount -o remount,size=400m "$work/small"
check_device
mount_device
sha256sum --quiet -c "$work/acknowledged" || die "acknowledged data are lost"
write_one again || die "with room again the mount must take writes"
unmount_device
check_device
# A disk that can only be read: a drive on it is looked at, and what cannot be done says what can.
mount -o remount,ro "$work/small"
"$FLASHLAB" fsck "$device" 2> "$work/err" && die "fsck mends on a disk that takes no writes"
grep -q 'read-only disk.*fsck -n' "$work/err" || die "fsck on a read-only disk: $(cat "$work/err")"
"$FLASHLAB" snapshot "$device" kept 2> "$work/err" && die "a snapshot on a disk that takes no writes"
grep -q 'Read-only file system' "$work/err" || die "snapshot on a read-only disk: $(cat "$work/err")"
mount_device -o ro
sha256sum --quiet -c "$work/acknowledged" || die "acknowledged data cannot be read from a read-only disk"
[[ $("$FLASHLAB" ctl "$mnt" stats --json) == *'"host_writes":0,'* ]] || die "the mount on a read-only disk does not answer: $("$FLASHLAB" ctl "$mnt" stats --json)"
unmount_device
"$FLASHLAB" fsck -n "$device" > /dev/null || die "fsck -n on a read-only disk"
mount -o remount,rw "$work/small"
# A snapshot that does not fit leaves nothing behind.
mount -o remount,size="$(du -k "$work/small" | tail -n 1 | cut -f 1)k" "$work/small"
"$FLASHLAB" snapshot "$device" large 2> "$work/err" && die "a snapshot on a full disk"
grep -q "make room on the host's disk" "$work/err" || die "a snapshot on a full disk: $(cat "$work/err")"
[[ ! -e $device/snapshots ]] || die "a snapshot that failed left $(find "$device/snapshots")"
say "ok: a full host disk, and a read-only one"
