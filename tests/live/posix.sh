#!/usr/bin/env bash
# What POSIX and Linux' manual pages say of names, links, rights, listings, data and attributes, on a real mount; first on the host's own directory, where the checks must hold, too.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
[[ $(id -u) -eq 0 ]] || skip "the checks of rights need root"
chmod 755 "$work"
mkdir "$work/host"
for part in names data attributes; do
    "$FLASHLAB_LIVE_BIN/posix_$part" "$work/host" || die "the host's own directory fails the checks of $part"
done
make_device --size 256M
mount_device -o allow_other
for part in names data attributes; do "$FLASHLAB_LIVE_BIN/posix_$part" "$mnt" || die "posix_$part"; done
unmount_device
check_device
mount_device -o allow_other,host_cache=writethrough
rm -rf "${mnt:?}"/*
for part in names data attributes; do "$FLASHLAB_LIVE_BIN/posix_$part" "$mnt" || die "posix_$part with writethrough"; done
unmount_device
check_device
