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
say "ok: a full host disk"
