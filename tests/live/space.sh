#!/usr/bin/env bash
# Full devices. `space.sh fill`: 95 % full, then random overwrite and delete, verified after every device-fill. `space.sh enospc`: data until ENOSPC, then files until ENOSPC.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"

# Between the device-fills: WAF so far, and every invariant of the device and the file system. The daemon is not our child here: it daemonises.
between_fills() {
    "$FLASHLAB" smart "$device" --json | grep -o '"waf":[^,}]*' || die "smart names no write amplification"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
    "$FLASHLAB" mount "$device" "$mnt" || die "mount"
}

fill() {
    make_device --size 256M
    "$FLASHLAB" mount "$device" "$mnt" || die "mount"
    mkdir "$mnt/full"
    export device mnt work
    "$FLASHLAB_LIVE_BIN/fill_and_overwrite" "$mnt/full" 95 "$(scaled 2 10)" 1 "bash '$here/space.sh' between_fills" || die "fill_and_overwrite"
    unmount_device
    check_device
}

# Only the operation that needs space fails; what was written stays, and unlink makes room.
enospc_of_data() {
    make_device --size 256M
    mount_device
    echo "written before" > "$mnt/before"
    local message
    message=$(LC_ALL=C dd if=/dev/urandom of="$mnt/large" bs=1M conv=fsync 2>&1) && die "256 MiB never got full"
    [[ $message == *"No space left"* ]] || die "expected ENOSPC, got: $message"
    say "full after $(stat -c %s "$mnt/large") bytes"
    [[ $(cat "$mnt/before") == "written before" ]] || die "a full device damaged another file"
    mkdir "$mnt/still-works" || die "mkdir on a device full of data"
    rm "$mnt/large" || die "unlink on a full device"
    dd if=/dev/urandom of="$mnt/again" bs=1M count=32 conv=fsync 2> /dev/null || die "no space after unlink"
    cp "$mnt/again" "$work/again"
    unmount_device
    check_device
    mount_device
    cmp "$mnt/again" "$work/again" || die "content after a full device"
    unmount_device
}

enospc_of_metadata() {
    rm -rf "$device"
    make_device --size 256M --set pram.bytes=64MiB
    mount_device
    mkdir "$mnt/names"
    local message
    message=$("$FLASHLAB_LIVE_BIN/many_files" "$mnt/names" 10000000 2>&1) && die "the PRAM never got full"
    [[ $message == *"No space left"* ]] || die "expected ENOSPC, got: $message"
    rm -rf "$mnt/names" || die "unlink on a full PRAM"
    echo "room again" > "$mnt/after" || die "create after unlink"
    unmount_device
    check_device
}

if [[ $1 == between_fills ]]; then # called by the program that fills, with device, mnt and work in the environment
    between_fills
    exit
fi
begin 1024
case $1 in
    fill) fill ;;
    enospc)
        enospc_of_data
        if [[ -n ${full-} ]]; then enospc_of_metadata; fi
        ;;
    *) die "usage: space.sh fill|enospc" ;;
esac
say "ok: $1"
