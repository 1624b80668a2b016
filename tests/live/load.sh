#!/usr/bin/env bash
# load.sh NAME [mount options]: one application on a mounted device; then a clean unmount, fsck, a remount that shows the same, and the space comes back.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"
name=$1
shift
real_latency="" # what a load does then is less, or nobody would wait for it
[[ " $* " != *" --latency real "* ]] || real_latency=1

begin 2048
make_device --size "$(load_size "$name")"
mount_device "$@"
"$FLASHLAB" ctl "$mnt" flush || die "ctl flush"
empty_kib=$(used_kib)
empty_data=$(info_of data_free_bytes)
empty_metadata=$(info_of metadata_free_bytes)
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
[[ $(info_of data_free_bytes) -eq $empty_data ]] || die "info: $empty_data bytes of data were free, now $(info_of data_free_bytes)"
lost=$((empty_metadata - $(info_of metadata_free_bytes)))
((lost <= 256 * 1024)) || die "info: $lost bytes of PRAM did not come back"
say "ok: $name, fsck clean, space back (PRAM: $lost bytes of $empty_metadata more in use than in the empty file system)"
