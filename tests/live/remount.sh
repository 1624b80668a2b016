#!/usr/bin/env bash
# What has to be durable without a sync: a mount that becomes read-only, FS_IOC_SHUTDOWN by its kinds. And what a read-only mount leaves as it is: access times. Then
# strictatime and noatime, at a mount and at a remount; FITRIM of a new drive; whose the files are that root makes in another's drive.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
[[ $(id -u) -eq 0 ]] || skip "needs root"
names=(one two three dir/four dir/five dir/six)
turn=0
write_files() { # other ones each time: nothing that was durable before looks like them
    rm -rf "${mnt:?}"/*
    ((++turn))
    mkdir "$mnt/dir"
    for name in "${names[@]}"; do echo "content $turn of $name" > "$mnt/$name"; done
    touch "$mnt/turn-$turn"
}
files_are_whole() {
    [[ -e $mnt/turn-$turn ]] || die "$1: names are missing: $(ls "$mnt")"
    for name in "${names[@]}"; do [[ $(cat "$mnt/$name" 2>&1) == "content $turn of $name" ]] || die "$1: $name: $(cat "$mnt/$name" 2>&1)"; done
}
cut_and_recover() {
    cut_power powercut 1
    mount_device
}
remount() { "$FLASHLAB" mount "$device" "$mnt" -o "remount,$1" || die "remount,$1"; }
by_kernel() { LIBMOUNT_FORCE_MOUNT2=always mount -i -o "remount,$1" "$mnt" || die "mount -i -o remount,$1"; }

for metadata in pram journal; do
    rm -rf "$device"
    make_device --size 64M --metadata "$metadata"
    mount_device

    say "--- $metadata: remount,ro writes back, and a cut after it takes nothing"
    write_files
    remount ro
    [[ $("$FLASHLAB" ctl "$mnt" unsynced --json) == *'"unsynced":[]'* ]] || die "unsynced after remount,ro: $("$FLASHLAB" ctl "$mnt" unsynced --json)"
    cut_and_recover
    files_are_whole "remount,ro"

    say "--- $metadata: so does a remount that only the kernel knows of"
    write_files
    by_kernel ro
    sleep 2.5 # by age it would take five seconds
    cut_and_recover
    files_are_whole "the kernel's remount,ro"

    say "--- $metadata: FS_IOC_SHUTDOWN after all, and after the names"
    write_files
    "$FLASHLAB_LIVE_BIN/shut_down" "$mnt" 0 || die "FS_IOC_SHUTDOWN"
    umount "$mnt" || die "umount"
    stop_daemon
    mount_device
    files_are_whole "FS_IOC_SHUTDOWN"
    write_files
    touch -d @1111111111 "$mnt/one"
    "$FLASHLAB_LIVE_BIN/shut_down" "$mnt" 1 || die "FS_IOC_SHUTDOWN"
    umount "$mnt" || die "umount"
    stop_daemon
    mount_device
    for name in "${names[@]}" "turn-$turn"; do [[ -e $mnt/$name ]] || die "FS_IOC_SHUTDOWN after the names: no $name"; done
    [[ $(stat -c %Y "$mnt/one") == 1111111111 ]] || die "FS_IOC_SHUTDOWN after the names: the time of one is $(stat -c %Y "$mnt/one")"
    unmount_device
    check_device
done

say "--- a read-only mount keeps access times; a mount that began so does not become writable"
mount_device
write_files
remount ro
before=$(stat -c %x "$mnt/one")
cat "$mnt/one" > /dev/null
[[ $(stat -c %x "$mnt/one") == "$before" ]] || die "a read moved the access time of a read-only mount"
remount rw
touch "$mnt/new" || die "remount,rw"
unmount_device
mount_device --read-only
if "$FLASHLAB" mount "$device" "$mnt" -o remount,rw 2> "$work/err"; then die "a drive that is open for reading alone became writable"; fi
grep -q 'without ro' "$work/err" || die "remount,rw: $(cat "$work/err")"
unmount_device

say "--- access times: relative, strict, none"
moves() { # FILE: does a read move the access time?
    local before
    before=$(stat -c %x "$mnt/$1")
    sleep 0.02
    if [[ -d $mnt/$1 ]]; then ls "$mnt/$1" > /dev/null; elif [[ -L $mnt/$1 ]]; then readlink "$mnt/$1" > /dev/null; else cat "$mnt/$1" > /dev/null; fi
    [[ $(stat -c %x "$mnt/$1") != "$before" ]]
}
mount_device -o strictatime
write_files
ln -s one "$mnt/link"
for round in first second third; do
    for name in one dir link; do moves "$name" || die "strictatime: the $round access of $name is not seen"; done
done
remount ro
! moves one || die "strictatime,ro moves access times"
remount rw
moves one && moves one || die "strictatime is gone after remount,ro and remount,rw"
remount noatime
! moves one || die "remount,noatime"
unmount_device
mount_device
touch "$mnt/two" "$mnt/one"
moves one && ! moves one || die "relatime"
remount strictatime
moves one && moves one || die "remount,strictatime"
remount relatime
! moves one || die "remount,relatime"
touch "$mnt/one"
by_kernel noatime
sleep 0.2
! moves one || die "the kernel's remount,noatime"
unmount_device
mount_device -o noatime
touch "$mnt/one"
! moves one || die "noatime"
remount relatime
moves one || die "remount,relatime after noatime"
unmount_device

if command -v fstrim > /dev/null; then
    say "--- FITRIM of a new drive tells its free bytes"
    rm -rf "$device"
    make_device --size 64M
    mount_device
    free=$(($(stat -f -c '%f * %S' "$mnt")))
    told=$(fstrim -v "$mnt" | sed -n 's/.*(\([0-9]*\) bytes.*/\1/p')
    [[ $told -eq $free ]] || die "fstrim tells $told bytes, $free are free"
    told=$(fstrim -v -o 10M "$mnt" | sed -n 's/.*(\([0-9]*\) bytes.*/\1/p')
    ((told > free / 2 && told < free)) || die "fstrim from 10 MiB on tells $told bytes of $free"
    unmount_device
fi

if id nobody > /dev/null 2>&1; then
    say "--- what root makes in another's drive is that other's"
    rm -rf "$device"
    make_device --size 64M
    chown -R nobody "$device"
    rm -f "$device"/{counters.json,events.db}
    "$FLASHLAB" mount "$device" "$mnt" --log all 2> "$work/err" || die "mount: $(cat "$work/err")"
    write_files
    "$FLASHLAB" ctl "$mnt" flush > /dev/null
    sleep 1.2 # counters.json is written each second
    for file in counters.json mount.log events.db events.db-wal; do [[ $(stat -c %U "$device/$file") == nobody ]] || die "$file: $(ls -l "$device/$file")"; done
    "$FLASHLAB" umount "$mnt" || die "umount"
    "$FLASHLAB" snapshot "$device" kept > /dev/null || die "snapshot"
    "$FLASHLAB" fsck --repair "$device" > /dev/null || die "repair"
    echo secret > "$work/secret"
    ln "$work/secret" "$device/mount.log.2"
    "$FLASHLAB" mkfs "$work/mkfs" --quiet --size 64M > /dev/null 2>&1 && [[ $(stat -c %U "$work/mkfs/nand.img") == root ]] || die "mkfs beside it"
    "$FLASHLAB" mkfs "$device" --force --quiet --size 64M > /dev/null 2>&1 || die "mkfs --force"
    foreign=$(find "$device" ! -user nobody ! -name mount.log.2)
    [[ -z $foreign ]] || die "root's: $foreign"
    ln -f "$work/secret" "$device/events.db" && rm -f "$device"/events.db-*
    "$FLASHLAB" mount "$device" "$mnt" --log all > /dev/null 2>&1 || true # another name of root's own file is no log
    "$FLASHLAB" umount "$mnt" > /dev/null 2>&1 || true
    [[ $(stat -c %U "$work/secret") == root ]] || die "a planted link made root's file another's"
fi
say "ok: remounts"
