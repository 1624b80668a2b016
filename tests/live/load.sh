#!/usr/bin/env bash
# load.sh NAME [mount options]: one application on a mounted device; then a clean unmount, fsck, a remount that shows the same, and the space comes back.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"
name=$1
shift

begin 2048
make_device --size "$(load_size "$name")"
mount_device "$@"
empty_kib=$(used_kib)
mkdir "$mnt/load"
started=$(now_ms)
"load_$name" "$mnt/load" || die "load $name"
say "$name: $(($(now_ms) - started)) ms"
unmount_device
check_device

mount_device "$@"
if declare -F "verify_$name" > /dev/null; then "verify_$name" "$mnt/load" || die "$name after a remount"; fi
rm -rf "$mnt/load"
[[ -z $(ls -A "$mnt") ]] || die "files are left after removing all"
left_kib=$(($(used_kib) - empty_kib))
((left_kib <= 1024)) || die "$left_kib KiB of space did not come back after removing all"
unmount_device
check_device
say "ok: $name, fsck clean, space back"
