#!/usr/bin/env bash
# What POSIX and Linux' manual pages say of names, links, rights, listings, data and attributes, and of asynchronous writes, and that an open which is refused changes nothing, on a real mount; first on the host's own directory, where the checks must hold, too.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
[[ $(id -u) -eq 0 ]] || skip "the checks of rights need root"
chmod 755 "$work"
mkdir "$work/host"
for part in names data attributes async refused; do
    "$FLASHLAB_LIVE_BIN/posix_$part" "$work/host" || die "the host's own directory fails the checks of $part"
done
# What set-id bits, flags and names of attributes do is ext4's: side by side with one, where a loop device can be had.
if truncate -s 64M "$work/ext4" && mkfs.ext4 -q "$work/ext4" 2> /dev/null && mkdir "$work/other" && mount -o loop "$work/ext4" "$work/other" 2> /dev/null; then
    chmod 755 "$work/other"
    code=0
    "$FLASHLAB_LIVE_BIN/posix_rights" "$work/other" && "$FLASHLAB_LIVE_BIN/posix_refused" "$work/other" || code=$?
    umount "$work/other"
    [[ $code -eq 0 ]] || die "ext4 fails the checks of rights, or of what is refused"
else
    say "no ext4 to compare with here"
fi
make_device --size 256M
mount_device -o allow_other
for part in names data attributes async rights refused; do "$FLASHLAB_LIVE_BIN/posix_$part" "$mnt" || die "posix_$part"; done
unmount_device
check_device
mount_device -o allow_other,host_cache=writethrough
rm -rf "${mnt:?}"/*
for part in names data attributes async rights refused; do "$FLASHLAB_LIVE_BIN/posix_$part" "$mnt" || die "posix_$part with writethrough"; done
unmount_device
check_device
