#!/usr/bin/env bash
# Files without a name (O_TMPFILE) on a real mount, after cuts and on a full drive. Only libfuse 3.17 and later hand them on.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
[[ $(id -u) -eq 0 ]] || skip "the checks of rights need root"
chmod 755 "$work"
mkdir "$work/host"
unnamed=$FLASHLAB_LIVE_BIN/unnamed_files
code=0
"$unnamed" check "$work/host" || code=$?
[[ $code -eq 0 || $code -eq 77 ]] || die "the host's own directory fails the checks"
make_device --size 64M
mount_device -o allow_other
[[ $(getfattr --only-values -n user.flashlab.born "$mnt" 2> /dev/null || echo 1.000000000) =~ ^[0-9]+\.[0-9]{9}$ ]] || die "user.flashlab.born"
code=0
"$unnamed" check "$mnt" || code=$?
if [[ $code -eq 77 ]]; then
    unmount_device
    skip "this libfuse does not hand O_TMPFILE on"
fi
[[ $code -eq 0 ]] || die "unnamed_files check"
rm -rf "${mnt:?}"/*
unmount_device
check_device

# What nobody named is gone after a cut, with its room.
for how in kill powercut; do
    mount_device
    before=$(used_kib)
    : > "$work/held"
    "$unnamed" hold "$mnt" > "$work/held" &
    holder=$!
    until grep -q held "$work/held"; do kill -0 "$holder" 2> /dev/null || die "hold"; sleep 0.05; done
    [[ $(used_kib) -ge $((before + 1024)) ]] || die "an unnamed file of 1 MiB takes no room"
    cut_power "$how" 5
    kill "$holder" 2> /dev/null || true
    wait "$holder" 2> /dev/null || true
    recover_device
    [[ $(used_kib) -le $((before + 64)) ]] || die "after $how an unnamed file still takes room: $before -> $(used_kib) KiB"
    unmount_device
    check_device
done

# What was synced, linked and synced again is there, whole.
for how in kill powercut; do
    mount_device
    : > "$work/promised"
    "$unnamed" publish "$mnt" 2000 > "$work/promised" 2> /dev/null &
    publisher=$!
    until [[ $(wc -l < "$work/promised") -ge 40 ]]; do kill -0 "$publisher" 2> /dev/null || die "publish"; sleep 0.02; done
    cut_power "$how" 6
    wait "$publisher" 2> /dev/null || true
    recover_device
    "$unnamed" verify "$mnt" < "$work/promised" || die "after $how"
    rm -f "$mnt"/f*
    unmount_device
    check_device
done

# A full drive refuses, and has its room again afterwards.
mount_device
code=0
dd if=/dev/zero of="$mnt/full" bs=1M 2> /dev/null || code=$?
[[ $code -ne 0 ]] || die "the drive never was full"
"$unnamed" hold "$mnt" > "$work/held" 2>&1 && die "1 MiB more fits on a full drive"
rm "$mnt/full"
"$unnamed" publish "$mnt" 3 > "$work/promised" || die "publish after the drive was full"
"$unnamed" verify "$mnt" < "$work/promised" || die "verify after the drive was full"
unmount_device
check_device
