#!/usr/bin/env bash
# What POSIX and Linux' manual pages say of names, links, rights and listings, on a real mount; first on the host's own directory, where the checks must hold, too.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 256
[[ $(id -u) -eq 0 ]] || skip "the checks of rights need root"
chmod 755 "$work"
mkdir "$work/host"
"$FLASHLAB_LIVE_BIN/posix_names" "$work/host" || die "the host's own directory fails the checks"
make_device --size 256M
mount_device -o allow_other
"$FLASHLAB_LIVE_BIN/posix_names" "$mnt" || die "posix_names"
unmount_device
check_device
mount_device -o allow_other,host_cache=writethrough
rm -rf "${mnt:?}"/*
"$FLASHLAB_LIVE_BIN/posix_names" "$mnt" || die "posix_names with writethrough"
unmount_device
check_device
