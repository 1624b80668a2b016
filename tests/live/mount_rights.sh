#!/usr/bin/env bash
# What a mount lets in: set-uid programs and device nodes only when asked for, files that only their owner reads, planted links, the words of mount(8), FITRIM's
# range; and what is left of a mount that FS_IOC_SHUTDOWN or a power cut ended.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
[[ $(id -u) -eq 0 ]] || skip "needs root"
option_of_mount() { awk -v point="$mnt" '$2 == point { print $4 }' /proc/self/mounts | tr ',' '\n' | grep -qx -- "$1"; }
background() { "$FLASHLAB" mount "$device" "$mnt" "$@" > "$work/mount.log" 2>&1 || { cat "$work/mount.log"; die "mount $*"; }; }
refused() { # CODE PATTERN COMMAND...
    local wanted=$1 pattern=$2 code=0
    shift 2
    timeout 60 "$@" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $wanted ]] && grep -q -- "$pattern" "$work/err" || die "${*/#$FLASHLAB/flashlab}: code $code, expected $wanted and '$pattern': $(cat "$work/err")"
}

say "--- the files of a device are their owner's, whatever the umask"
umask 000
make_device --size 64M
background --log all
echo content > "$mnt/file"
"$FLASHLAB" ctl "$mnt" flush > /dev/null
"$FLASHLAB" query "$device" 'SELECT count(*) FROM run' > /dev/null || die "query"
sleep 1.2 # counters.json is written each second
[[ $(stat -c %a "$device") == 700 ]] || die "the folder has mode $(stat -c %a "$device")"
for file in "$device"/*; do
    [[ $(stat -c %a "$file") == 600 ]] || die "${file##*/} has mode $(stat -c %a "$file")"
done
[[ -e $device/events.db-wal && -e $device/control.sock && -e $device/counters.json ]] || die "not all files are there: $(ls "$device")"
umask 022
option_of_mount nosuid && option_of_mount nodev || die "a mount by root has neither nosuid nor nodev"
"$FLASHLAB" umount "$mnt" || die "umount"
background -o suid,default_permissions
sleep 0.4 < "$mnt/file" & # as long as a look at the mount may last beside much other work
option_of_mount nodev && ! option_of_mount nosuid || die "-o suid"
"$FLASHLAB" umount "$mnt" || die "umount"
background -o dev,suid,nosuid
! option_of_mount nodev && option_of_mount nosuid || die "-o dev,suid,nosuid"
"$FLASHLAB" umount "$mnt" || die "umount"

say "--- planted links are not followed"
for name in events.db mount.log; do
    rm -f "$device/$name"*
    echo precious > "$work/precious"
    ln -s "$work/precious" "$device/$name"
    "$FLASHLAB" mount "$device" "$mnt" --log all 2> "$work/err" || die "mount with a planted $name: $(cat "$work/err")"
    echo more > "$mnt/file"
    "$FLASHLAB" umount "$mnt" || die "umount"
    [[ $(cat "$work/precious") == precious ]] || die "$name: the link was followed"
    grep -q 'symbolic link' "$work/err" || die "nothing was said of the link $name: $(cat "$work/err")"
    rm "$device/$name"
done
mkfifo "$device/mount.log"
timeout -k 5 20 "$FLASHLAB" mount "$device" "$mnt" 2> "$work/err" || die "mount with a FIFO as mount.log: $(cat "$work/err")"
grep -q 'is a FIFO' "$work/err" || die "nothing was said of the FIFO: $(cat "$work/err")"
"$FLASHLAB" umount "$mnt" || die "umount"
rm "$device/mount.log"
rm -f "$device"/events.db*
ln -s "$work/made" "$device/events.db"
"$FLASHLAB" mount "$device" "$mnt" --log all 2> "$work/err" || die "mount"
grep -q 'symbolic link' "$work/err" || die "nothing was said of the link: $(cat "$work/err")"
"$FLASHLAB" umount "$mnt" || die "umount"
[[ ! -e $work/made ]] || die "a file was made through the link"
rm "$device/events.db"
ln -s "$work/precious" "$device/counters.json.new"
background
"$FLASHLAB" umount "$mnt" || die "umount"
[[ $(cat "$work/precious") == precious ]] || die "counters.json.new: the link was followed"

say "--- names of snapshots"
"$FLASHLAB" snapshot "$device" good > /dev/null || die "snapshot"
refused 2 'no name of a snapshot' "$FLASHLAB" clone "$device@../../device" "$work/clone"
refused 2 'no name of a snapshot' "$FLASHLAB" clone "$device@" "$work/clone"
[[ ! -e $work/clone ]] || die "a clone was made"
umask 000
"$FLASHLAB" clone "$device@good" "$work/clone" > /dev/null || die "clone"
umask 022
[[ $(stat -c %a "$work/clone") == 700 ]] || die "the clone has mode $(stat -c %a "$work/clone")"

say "--- the words of mount(8)"
background
"$FLASHLAB" mount "$device" "$mnt" -o remount,ro,nosuid,nodev,relatime,user_id=0,group_id=0,default_permissions || die "remount,ro as mount(8) calls it"
option_of_mount ro || die "remount,ro"
"$FLASHLAB" mount "$device" "$mnt" -o remount,rw,sync,nosuid,nodev,user_id=0,group_id=0,default_permissions,relatime || die "remount,rw"
option_of_mount rw && option_of_mount sync && option_of_mount nosuid || die "remount,rw,sync: $(grep "$mnt" /proc/self/mounts)"
refused 2 'user_id=7' "$FLASHLAB" mount "$device" "$mnt" -o remount,user_id=7
refused 2 'allow_other' "$FLASHLAB" mount "$device" "$mnt" -o remount,allow_other
refused 2 'cache=' "$FLASHLAB" mount "$device" "$mnt" -o remount,cache=1G
if [[ -w /sbin && ! -e /sbin/mount.fuse.flashlab && ! -e /sbin/mount.flashlab ]]; then
    ln -s "$(readlink -f "$FLASHLAB")" /sbin/mount.fuse.flashlab
    code=0
    mount -o remount,ro "$mnt" 2> "$work/err" || code=$?
    rm -f /sbin/mount.fuse.flashlab
    [[ $code -eq 0 ]] && option_of_mount ro || die "mount(8) -o remount,ro: $code $(cat "$work/err")"
fi
"$FLASHLAB" umount "$mnt" || die "umount"
check_device

say "--- a mount that was shut down is unmounted in the usual way; a cut one gives EIO to who has it open"
background
exec 7> "$mnt/open"
"$FLASHLAB_LIVE_BIN/shut_down" "$mnt" || die "FS_IOC_SHUTDOWN"
mounted || die "the mount went by itself"
! { echo more >&7; } 2> "$work/err" || die "a write after the shutdown"
grep -q 'Input/output error' "$work/err" || die "after the shutdown: $(cat "$work/err")"
! stat "$mnt/other" 2> "$work/err" || die "a lookup after the shutdown"
grep -q 'Input/output error' "$work/err" || die "after the shutdown: $(cat "$work/err")"
! umount "$mnt" 2> /dev/null || die "unmounted under an open file"
exec 7>&-
umount "$mnt" || die "umount(8) after the shutdown"
check_device
background
exec 7> "$mnt/open"
"$FLASHLAB" ctl "$mnt" powercut > /dev/null || die "powercut"
! mounted || die "a cut mount keeps its name"
! { echo more >&7; } 2> "$work/err" || die "a write after the cut"
grep -q 'Input/output error' "$work/err" || die "after the cut: $(cat "$work/err")"
background # the place is free at once
echo recovered > "$mnt/file"
! { echo more >&7; } 2> /dev/null || die "a file of before the cut takes writes"
exec 7>&-
sleep 11 # the daemon of the cut mount ends; the new mount must not go with it
[[ $(cat "$mnt/file") == recovered ]] || die "the end of the cut mount took the new one"
"$FLASHLAB" umount "$mnt" || die "umount"
check_device
say "ok: rights and words of a mount"
