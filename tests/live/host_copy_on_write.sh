#!/usr/bin/env bash
# A copy of a device on a host disk that shares extents (XFS), which then runs full: names can still be made, and the daemon lives. By clone, and by cp.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 1024
[[ $(id -u) -eq 0 ]] || skip "needs root, to mount a host disk of its own"
command -v mkfs.xfs > /dev/null || skip "mkfs.xfs is not installed (package xfsprogs)"
host=$work/host
mkdir "$host"
truncate -s 600M "$work/disk"
mkfs.xfs -q "$work/disk" || skip "mkfs.xfs fails here"
mount -o loop "$work/disk" "$host" 2> /dev/null || skip "cannot mount XFS on a loop device here"
free_host_disk() { detach; stop_daemon; umount -l "$host" 2> /dev/null || true; }
trap 'result=$?; free_host_disk; finish $result' EXIT

fill_host_disk() {
    dd if=/dev/zero of="$host/fill" bs=1M 2> /dev/null || true
    sync -f "$host"
    dd if=/dev/zero of="$host/rest" bs=4k 2> /dev/null || true
    sync -f "$host"
}
make_names() { # answered as long as PRAM has room, whatever the host has
    local number
    for number in $(seq 500); do mkdir "$mnt/$1$number" || die "$1: mkdir on a full host disk"; done
}
survives_full_disk() {
    say "--- a copy by $1"
    device=$host/$1
    mount_device --log none
    fill_host_disk
    make_names "$1"
    kill -0 "$daemon" || die "$1: the daemon died"
    rm -f "$host/fill" "$host/rest" # of the second the full disk may have had no room for the name
    unmount_device
    check_device
}

device=$host/original
make_device --size 256M --metadata pram
mount_device
for number in $(seq 200); do echo content > "$mnt/file$number"; done
unmount_device
sync -f "$host" # extents that are only reserved are not shared
"$FLASHLAB" clone "$device" "$host/clone" || die "clone"
cp -r --reflink=always "$device" "$host/cp" || skip "this XFS does not share extents"
sync -f "$host"
survives_full_disk clone
survives_full_disk cp
say "ok: shared extents on a full host disk"
